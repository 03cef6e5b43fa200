import GRDB
import TaskModel

/// Converts transfers to and from rows of the table `transfers`.
///
/// The columns besides `record` repeat what a query or a person looks for; the record is JSON text.
enum TransferRow {
    /// Writes a transfer, which replaces its older row.
    static func write(_ transfer: Transfer, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO transfers (id, bundle, session, state, ended_ms, record) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET state = excluded.state, ended_ms = excluded.ended_ms,
                    record = excluded.record
                """
        ).execute(arguments: [
            transfer.id.rawValue, transfer.request.bundle.rawValue,
            transfer.request.session.map(StoredText.encode), transfer.state.rawValue,
            transfer.endedAt?.milliseconds,
            StoredText.encode(
                try TransferText.text(of: transfer) ?? StoredJSON.text(of: StoredTransfer(transfer))),
        ])
    }

    /// Removes a row.
    static func remove(_ id: TransferID, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM transfers WHERE id = ?").execute(arguments: [id.rawValue])
    }

    /// Reads all rows, oldest first; a row that can't be read becomes a sentence in
    /// ``StoredFacts/unreadable``.
    static func readAll(in db: Database, into facts: inout StoredFacts) throws {
        for row in try Row.fetchAll(db, sql: "SELECT id, record FROM transfers ORDER BY id") {
            do {
                let text = try StoredText.decode(row, "record")
                facts.transfers.append(try StoredJSON.decode(StoredTransfer.self, from: text).transfer)
            } catch {
                let id: Int64 = row["id"]
                facts.unreadable.append(
                    "The store's transfer T\(id) can't be read: \(StoredJSON.sentence(of: error)). "
                        + "The host ignores this transfer")
            }
        }
    }
}
