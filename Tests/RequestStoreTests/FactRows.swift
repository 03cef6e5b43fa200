import GRDB

@testable import RequestStore

/// The rows of facts as text, in the form that older hosts also used.
extension SQLiteRequestStore {
    /// The text of each row, by its key.
    func settings() async throws -> [String: String] {
        let pairs = try await read { db in
            try Row.fetchAll(db, sql: "SELECT key, value FROM settings").map { row in
                (try StoredText.decode(row, "key"), try StoredText.decode(row, "value"))
            }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Writes the text of one row.
    func setSetting(_ key: String, _ value: String) async throws {
        try await write { try FactRow.set(key, value, in: $0) }
    }
}
