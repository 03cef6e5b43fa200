/// A place in a file.
public struct Place: Equatable, Sendable {
    /// From 1.
    public var line: Int
    /// From 1.
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// One value of a file, with its place.
public struct YAMLNode {
    /// What is written there.
    public enum Value {
        /// `isPlain` is false for quoted and block scalars, which are text whatever they look like.
        case scalar(String, isPlain: Bool)
        /// Keys and values, in the file's order.
        case mapping([(key: YAMLNode, value: YAMLNode)])
        /// A list.
        case sequence([YAMLNode])
    }

    /// What is written there.
    public var value: Value
    /// Where it begins.
    public var place: Place

    public init(value: Value, place: Place) {
        self.value = value
        self.place = place
    }

    /// What a person would call it, for "found ...".
    public var found: String {
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
    public var isNull: Bool {
        if case .scalar(let text, isPlain: true) = value {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

extension String {
    /// At most 60 characters on one line, for messages.
    public var shortened: String { shortened(to: 60) }

    /// A limited number of characters on one line, for messages.
    public func shortened(to most: Int) -> String {
        let clean = String(
            unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : Character($0) })
        return clean.count > most ? clean.prefix(most - 3) + "..." : clean
    }
}
