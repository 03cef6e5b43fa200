import FoundationEssentials
import GRDB
import TaskModel

/// Reads columns that contain a word of an enumeration.
///
/// A word that this version does not know is an error.
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

    static func check<Word: RawRepresentable>(_ text: String, _ column: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw StoredColumnError(
                finding: "the column \(column) holds an unknown word: \(text.debugDescription)")
        }
        return word
    }
}

/// Reads and writes columns that contain text from outside the host, without changing it.
///
/// SQLite ends a text at its first NUL character, so two keys that differ only after a NUL would be equal.
/// Therefore, a text with a NUL is stored as a blob of UTF-8, which can be compared, too.
enum StoredText {
    static func encode(_ text: String?) -> DatabaseValue {
        guard let text else { return .null }
        return text.utf8.contains(0) ? Data(text.utf8).databaseValue : text.databaseValue
    }

    static func decode(_ row: Row, _ column: String) throws -> String {
        guard let text = try decodeOptional(row, column) else {
            throw StoredColumnError(finding: "the column \(column) is empty")
        }
        return text
    }

    static func decodeOptional(_ row: Row, _ column: String) throws -> String? {
        try decodeOptional(row.decode(forColumn: column), column)
    }

    static func decodeOptional(_ value: DatabaseValue, _ column: String) throws -> String? {
        switch value.storage {
        case .null: return nil
        case .string(let text): return text
        case .blob(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .int64, .double: throw StoredColumnError(finding: "the column \(column) holds a number")
        }
    }
}

/// Reads columns that contain milliseconds since 1970.
enum StoredTime {
    static func decode(_ row: Row, _ column: String) throws -> WallTime {
        WallTime(milliseconds: try row.decode(forColumn: column))
    }

    static func decodeOptional(_ row: Row, _ column: String) throws -> WallTime? {
        let milliseconds: Int64? = try row.decode(forColumn: column)
        return milliseconds.map(WallTime.init(milliseconds:))
    }
}

/// Reads and writes the column `tags`: the tags with spaces between them, which no tag contains.
enum StoredTags {
    static func encode(_ tags: [Tag]) -> String { tags.map(\.rawValue).joined(separator: " ") }

    static func decode(_ row: Row) throws -> [Tag] {
        let text: String = try row.decode(forColumn: "tags")
        // Most requests have none.
        return text.isEmpty ? [] : try text.split(separator: " ").map { try Tag(String($0)) }
    }
}

/// A value in the database that this version of the host can't read.
struct StoredColumnError: Error, CustomStringConvertible {
    let finding: String
    var description: String { finding }
}
