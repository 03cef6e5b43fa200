import Foundation
import GRDB
import TaskModel

/// Reads and writes termination reports, as JSON.
enum StoredTermination {
    static func encode(_ report: TerminationReport?) -> DatabaseValue {
        guard let report else { return .null }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A report that can't be encoded, because a number is infinite, must not prevent that the end of the
        // launch is stored.
        guard let bytes = try? encoder.encode(report) else { return .null }
        return StoredText.encode(String(decoding: bytes, as: UTF8.self))
    }

    /// The report of a row; a report that an older or newer host wrote differently counts as none.
    static func decode(_ row: Row) throws -> TerminationReport? {
        guard let text = try StoredText.decodeOptional(row, "termination") else { return nil }
        return try? JSONDecoder().decode(TerminationReport.self, from: Data(text.utf8))
    }
}
