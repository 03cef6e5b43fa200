import CSQLite

/// An error of SQLite, with the operation that failed.
struct DigestError: Error, CustomStringConvertible {
    let description: String
}

/// The digest: a SQLite database that holds every entry ever read, each once.
final class Digest {
    private let database: OpaquePointer

    /// Opens the database; creates it if it is missing.
    init(path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle, code == SQLITE_OK else {
            throw DigestError(description: "can't open \(path): \(String(cString: sqlite3_errstr(code)))")
        }
        database = handle
        sqlite3_busy_timeout(handle, 5000)
        try execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS feed (
                file TEXT PRIMARY KEY, title TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS item (
                file TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL, link TEXT NOT NULL, published INTEGER,
                PRIMARY KEY (file, key)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS item_published ON item (published);
            """)
    }

    deinit { sqlite3_close_v2(database) }

    /// Whether the digest has read the file in its present version.
    func holds(_ file: FeedFile) throws -> Bool {
        try query(
            "SELECT 1 FROM feed WHERE file = ? AND size = ? AND modified = ?",
            [.text(file.name), .integer(file.size), .integer(file.modified)]) == 1
    }

    /// Stores a feed in one transaction and returns the number of new entries.
    func store(_ feed: Feed, of file: FeedFile) throws -> Int {
        try execute("BEGIN IMMEDIATE")
        do {
            let before = try count(file)
            for item in feed.items {
                _ = try query(
                    """
                    INSERT INTO item (file, key, title, link, published) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET title = excluded.title, link = excluded.link,
                        published = excluded.published
                    """,
                    [
                        .text(file.name), .text(item.key), .text(item.title), .text(item.link),
                        item.published.map { .integer($0) } ?? .null,
                    ])
            }
            _ = try query(
                "INSERT OR REPLACE INTO feed (file, title, size, modified) VALUES (?, ?, ?, ?)",
                [.text(file.name), .text(feed.title), .integer(file.size), .integer(file.modified)])
            let after = try count(file)
            try execute("COMMIT")
            return after - before
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    private func count(_ file: FeedFile) throws -> Int {
        try query("SELECT count(*) FROM item WHERE file = ?", [.text(file.name)]) ?? 0
    }

    private enum Value {
        case null
        case integer(Int)
        case text(String)
    }

    private func failure(_ what: String) -> DigestError {
        DigestError(description: "\(what): \(String(cString: sqlite3_errmsg(database)))")
    }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    /// Runs one statement and returns the first column of its first row; `nil` if there is no row.
    private func query(_ sql: String, _ values: [Value]) throws -> Int? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
        defer { sqlite3_finalize(statement) }
        // The value -1 is SQLITE_TRANSIENT: SQLite copies the text before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            switch value {
            case .null: sqlite3_bind_null(statement, place)
            case .integer(let number): sqlite3_bind_int64(statement, place, Int64(number))
            case .text(let text): sqlite3_bind_text(statement, place, text, -1, copied)
            }
        }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return Int(sqlite3_column_int64(statement, 0))
        case SQLITE_DONE: return nil
        default: throw failure(sql)
        }
    }
}
