/// A column of a table: its heading, and what happens to it on a terminal that is too narrow.
struct TableColumn: Equatable, Sendable {
    /// What happens to a column if the terminal is too narrow for all.
    enum Fit: Equatable {
        /// It stays as it is.
        case whole
        /// It is left out, before columns with a larger number; first of all, if it has no values.
        case spare(Int)
        /// It is left out only if it has no values.
        case filled
        /// Its cells lose their middle.
        case identifier
        /// Its cells get the rest of the line, and continue below each other.
        case sentence
    }

    let name: String
    let fit: Fit

    /// A column that stays as it is.
    static func whole(_ name: String) -> Self { Self(name: name, fit: .whole) }
    /// A column that is left out before those with a larger number.
    static func spare(_ name: String, _ rank: Int) -> Self { Self(name: name, fit: .spare(rank)) }
    /// A column that is left out if it has no values.
    static func filled(_ name: String) -> Self { Self(name: name, fit: .filled) }
    /// A column of names whose ends matter most.
    static func identifier(_ name: String) -> Self { Self(name: name, fit: .identifier) }
    /// The last column, with a sentence.
    static func sentence(_ name: String) -> Self { Self(name: name, fit: .sentence) }
}

extension TableColumn: ExpressibleByStringLiteral {
    init(stringLiteral name: String) { self = .whole(name) }
}
