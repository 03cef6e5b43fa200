/// A place in a manifest's file.
struct Place: Equatable {
    var line: Int
    var column: Int
}

/// One value of a manifest, with its place.
struct ManifestNode {
    enum Value {
        /// `isPlain` is false for quoted and block scalars, which are text whatever they look like.
        case scalar(String, isPlain: Bool)
        case mapping([(key: ManifestNode, value: ManifestNode)])
        case sequence([ManifestNode])
    }

    var value: Value
    var place: Place

    /// What a person would call it, for "found ...".
    var found: String {
        switch value {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let text, isPlain: false): "the text '\(text.shortened)'"
        case .scalar(let text, isPlain: true):
            if isNull {
                "nothing"
            } else if text == "true" || text == "false" || Double(text) != nil {
                text.shortened
            } else {
                "'\(text.shortened)'"
            }
        }
    }

    /// Whether it is YAML's null: nothing, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = value {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

extension String {
    /// At most 60 characters on one line, for messages.
    var shortened: String { shortened(to: 60) }

    /// At most so many characters on one line, for messages.
    func shortened(to most: Int) -> String {
        let clean = String(
            unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : Character($0) })
        return clean.count > most ? clean.prefix(most - 3) + "..." : clean
    }
}
