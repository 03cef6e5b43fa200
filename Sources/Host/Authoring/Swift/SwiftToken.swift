import StrictFiles

/// One piece of a Swift file, as ``SwiftLexer`` cuts it.
struct SwiftToken {
    /// What the piece is.
    enum Kind: Equatable {
        /// A word: an identifier (without its backticks) or a keyword.
        case word(String)
        /// `@objc`: an attribute, without the sign.
        case attribute(String)
        /// `#selector`: a word behind a number sign that is not a directive.
        case hash(String)
        /// `#if`, `#elseif`, `#else`, `#endif`: the word, and for the first two the text of the condition.
        case directive(String, condition: String)
        /// A literal; `isWhole` is false where an interpolation follows the text.
        case string(String, isWhole: Bool)
        /// A comment, its signs included.
        case comment(String)
        /// Any other sign: one scalar.
        case sign(Character)
    }

    /// What it is.
    var kind: Kind
    /// Where it begins; the column counts bytes from 1, as the compiler's do.
    var place: Place

    /// The word, where it is one.
    var word: String? {
        if case .word(let text) = kind { text } else { nil }
    }

    /// Whether it is this sign.
    func isSign(_ sign: Character) -> Bool { kind == .sign(sign) }
}
