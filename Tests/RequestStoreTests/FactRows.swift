import GRDB

@testable import RequestStore

/// The rows of facts as text, as older hosts left them.
extension SQLiteRequestStore {
    /// The texts of all rows, by their keys.
    func settings() async throws -> [String: String] {
        let pairs = try await read { db in
            try Row.fetchAll(db, sql: "SELECT key, value FROM settings").map { row in
                (try StoredText.decode(row, "key"), try StoredText.decode(row, "value"))
            }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Writes the text of a row.
    func setSetting(_ key: String, _ value: String) async throws {
        try await write { try FactRow.set(key, value, in: $0) }
    }
}
