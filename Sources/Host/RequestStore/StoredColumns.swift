import GRDB
import TaskModel

/// Columns that hold one of our words. A word that this host does not know is an error, never a trap.
enum StoredWord {
    static func decode<Word: RawRepresentable>(_ row: Row, _ column: String) throws -> Word
    where Word.RawValue == String {
        try check(row.decode(forColumn: column), column)
    }

    static func decodeOptional<Word: RawRepresentable>(_ row: Row, _ column: String) throws -> Word?
    where Word.RawValue == String {
        let text: String? = try row.decode(forColumn: column)
        return try text.map { try check($0, column) }
    }

    private static func check<Word: RawRepresentable>(_ text: String, _ column: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw StoredColumnError(
                finding: "the column \(column) holds a word that is not known here: \(text.debugDescription)")
        }
        return word
    }
}

/// Columns that hold milliseconds since the epoch.
enum StoredTime {
    static func decode(_ row: Row, _ column: String) throws -> WallTime {
        WallTime(milliseconds: try row.decode(forColumn: column))
    }

    static func decodeOptional(_ row: Row, _ column: String) throws -> WallTime? {
        let milliseconds: Int64? = try row.decode(forColumn: column)
        return milliseconds.map(WallTime.init(milliseconds:))
    }
}

/// A value in the database that no version of the host has written.
struct StoredColumnError: Error, CustomStringConvertible {
    let finding: String
    var description: String { finding }
}
