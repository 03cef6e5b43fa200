import StrictFiles

/// One token of a Swift file, produced by ``SwiftLexer``.
struct SwiftToken {
    /// The kind of a token.
    enum Kind: Equatable {
        /// A word: an identifier (without its backticks) or a keyword.
        case word(String)
        /// An attribute, such as `@objc`, without its `@`.
        case attribute(String)
        /// A word after `#` that is not a directive, such as `selector` of `#selector`.
        case hash(String)
        /// `if`, `elseif`, `else` or `endif`; the condition is empty for the last two.
        case directive(String, condition: String)
        /// A string literal; if `isWhole` is false, it has an interpolation, and the text is what comes
        /// before it.
        case string(String, isWhole: Bool)
        /// A comment, with its delimiters.
        case comment(String)
        /// Any other character: one byte.
        case sign(Character)
    }

    /// The kind of this token, with its text.
    var kind: Kind
    /// Where the token begins; the column counts bytes from 1, as the compiler's columns do.
    var place: Place

    /// The text of a word; `nil` for other tokens.
    var word: String? {
        if case .word(let text) = kind { text } else { nil }
    }

    /// Whether the token is this sign.
    func isSign(_ sign: Character) -> Bool { kind == .sign(sign) }
}
