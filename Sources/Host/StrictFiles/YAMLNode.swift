/// A position in a file.
public struct Place: Equatable, Sendable {
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1.
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// A value in a YAML file, with its position.
public struct YAMLNode {
    /// The contents of a node.
    public enum Value {
        /// A scalar; `isPlain` is false for quoted and block scalars, which are always text.
        case scalar(String, isPlain: Bool)
        /// A mapping: its keys and values, in the order of the file.
        case mapping([(key: YAMLNode, value: YAMLNode)])
        /// A list.
        case sequence([YAMLNode])
    }

    /// The contents of the node.
    public var value: Value
    /// The position of the node's first character.
    public var place: Place

    public init(value: Value, place: Place) {
        self.value = value
        self.place = place
    }

    /// The description of the node in messages, after "found".
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

    /// Whether the node is null in YAML: empty, `~` or `null`.
    public var isNull: Bool {
        if case .scalar(let text, isPlain: true) = value {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

extension String {
    /// The text as one line of at most 60 characters, for messages.
    public var shortened: String { shortened(to: 60) }

    /// The text as one line with a limited number of characters, for messages.
    public func shortened(to most: Int) -> String {
        let clean = String(
            unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : Character($0) })
        return clean.count > most ? clean.prefix(most - 3) + "..." : clean
    }
}
