import Foundation
import GRDB
import TaskModel

/// Reads and writes termination reports and observed calls, as JSON.
enum StoredTermination {
    static func encode(_ report: (some Encodable)?) -> DatabaseValue {
        guard let report else { return .null }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A report that can't be encoded, because a number is infinite, must not prevent that the end of the
        // launch is stored.
        guard let bytes = try? encoder.encode(report) else { return .null }
        return StoredText.encode(String(decoding: bytes, as: UTF8.self))
    }

    /// The value in a column; one that an older or newer host wrote differently counts as none.
    static func decode<Value: Decodable>(_ row: Row, _ column: String) throws -> Value? {
        guard let text = try StoredText.decodeOptional(row, column) else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
