import GRDB

/// The tables of the database; Documentation/Store.md explains each column.
///
/// A migration that was released must not be changed. Changes need a new migration at the end.
enum StoreSchema {
    /// The database's `PRAGMA application_id`: the characters "bgtk".
    ///
    /// It prevents the host from using the database of another program.
    static let applicationID: Int64 = 0x6267_746B

    /// Creates the migrations from each older version to the present one; each runs in a transaction.
    ///
    /// - Parameter firstToken: The tokens of a new store begin above this number. It must be greater than the
    ///   tokens of a store that was set aside, because a resource that a task writes may accept only tokens
    ///   greater than the last one that it got.
    /// - Returns: The migrator, with all migrations.
    static func migrator(firstToken: Int64) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 requests, launches, settings") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: version1)
            try db.execute(sql: "INSERT INTO meta (key, value) VALUES ('token', ?)", arguments: [firstToken])
        }
        migrator.registerMigration("2 reports of launches") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN report ANY")
        }
        migrator.registerMigration("2 why launches were stopped, how urgent pushes are") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN stop_explanation ANY")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN push_priority INTEGER NOT NULL DEFAULT 5")
        }
        migrator.registerMigration("3 failures of requests") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN failures INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("4 titles of launches") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN title ANY NOT NULL DEFAULT ''")
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN subtitle ANY NOT NULL DEFAULT ''")
        }
        migrator.registerMigration("5 the reason of replaced requests") { db in
            try db.execute(
                sql: """
                    UPDATE requests SET reason = 'replaced'
                    WHERE state = 'done' AND outcome = 'cancelled' AND replaced_by IS NOT NULL
                        AND reason IS NULL
                    """)
        }
        migrator.registerMigration("6 the network that requests require") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN network TEXT")
        }
        migrator.registerMigration("7 what attempts brought") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN waiting_since_ms INTEGER")
            try db.execute(
                sql: "ALTER TABLE requests ADD COLUMN attempts_without_progress INTEGER NOT NULL DEFAULT 0")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN furthest_completed INTEGER")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN furthest_total INTEGER")
            try db.execute(
                sql: "ALTER TABLE launches ADD COLUMN has_new_checkpoint INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("8 deadlines, tags and successors of requests") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN start_deadline_ms INTEGER")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN at_deadline TEXT")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN tags TEXT NOT NULL DEFAULT ''")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN after_request INTEGER")
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN tags TEXT NOT NULL DEFAULT ''")
            // A request that waits for another one of its identifier is pending, too.
            try db.execute(sql: "DROP INDEX requests_pending")
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX requests_pending ON requests (identifier)
                    WHERE state = 'pending' AND after_request IS NULL
                    """)
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX requests_after ON requests (identifier)
                    WHERE after_request IS NOT NULL
                    """)
        }
        migrator.registerMigration("9 termination reports") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN termination ANY")
        }
        migrator.registerMigration("10 calls of launches") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN calls ANY")
        }
        migrator.registerMigration("11 transfers") { db in
            try db.execute(
                sql: """
                    CREATE TABLE transfers (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        bundle TEXT NOT NULL,
                        session ANY,
                        state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'finishing', 'ended')),
                        ended_ms INTEGER,
                        record ANY NOT NULL,
                        CHECK ((state = 'ended') = (ended_ms IS NOT NULL))
                    ) STRICT
                    """)
        }
        migrator.registerMigration("12 queues") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN queued INTEGER NOT NULL DEFAULT 0")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN priority INTEGER")
            // Any number of requests of a queue can be pending; they do not count for the bundle's limit.
            try db.execute(sql: "DROP INDEX requests_pending")
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX requests_pending ON requests (identifier)
                    WHERE state = 'pending' AND after_request IS NULL AND queued = 0
                    """)
            try db.execute(sql: "DROP INDEX requests_pending_of_bundle")
            try db.execute(
                sql: """
                    CREATE INDEX requests_pending_of_bundle ON requests (bundle, kind)
                    WHERE state = 'pending' AND queued = 0
                    """)
        }
        migrator.registerMigration("13 predecessors of requests") { db in
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN predecessors TEXT NOT NULL DEFAULT ''")
            try db.execute(sql: "ALTER TABLE requests ADD COLUMN open_predecessors TEXT NOT NULL DEFAULT ''")
            // What waits for a request is looked up at each end of a request.
            try db.execute(
                sql: """
                    CREATE TABLE predecessors (
                        predecessor INTEGER NOT NULL,
                        request INTEGER NOT NULL,
                        PRIMARY KEY (predecessor, request)
                    ) STRICT, WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("14 bytes of launches") { db in
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN received_bytes INTEGER")
            try db.execute(sql: "ALTER TABLE launches ADD COLUMN sent_bytes INTEGER")
        }
        return migrator
    }

    /// Columns of type ANY contain text from outside the host; see ``StoredText``.
    private static let version1 = """
        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            identifier TEXT NOT NULL,
            bundle TEXT NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'launched', 'done')),
            origin TEXT NOT NULL,
            earliest_ms INTEGER,
            requires_external_power INTEGER NOT NULL,
            requires_network INTEGER NOT NULL,
            requires_gpu INTEGER NOT NULL,
            strategy TEXT NOT NULL,
            payload ANY,
            title ANY NOT NULL,
            subtitle ANY NOT NULL,
            idempotency_key ANY,
            submitted_ms INTEGER NOT NULL,
            deadline_ms INTEGER NOT NULL,
            attempt INTEGER NOT NULL CHECK (attempt >= 1),
            not_before_ms INTEGER,
            checkpoint BLOB,
            outcome TEXT,
            reason TEXT,
            ended_ms INTEGER,
            replaced_by INTEGER,
            CHECK ((state = 'done') = (outcome IS NOT NULL) AND (state = 'done') = (ended_ms IS NOT NULL))
        ) STRICT;
        CREATE UNIQUE INDEX requests_pending ON requests (identifier) WHERE state = 'pending';
        CREATE INDEX requests_pending_of_bundle ON requests (bundle, kind) WHERE state = 'pending';
        CREATE UNIQUE INDEX requests_key ON requests (identifier, idempotency_key)
            WHERE idempotency_key IS NOT NULL;
        CREATE INDEX requests_ended ON requests (ended_ms) WHERE state = 'done';

        CREATE TABLE launches (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            request INTEGER NOT NULL REFERENCES requests (id),
            identifier TEXT NOT NULL,
            bundle TEXT NOT NULL,
            kind TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            token INTEGER NOT NULL UNIQUE,
            state TEXT NOT NULL CHECK (state IN ('starting', 'running', 'expiring', 'ended')),
            started_ms INTEGER NOT NULL,
            ready_ms INTEGER,
            ended_ms INTEGER,
            outcome TEXT,
            reason TEXT,
            message ANY,
            signal INTEGER,
            exit_status INTEGER,
            phase TEXT,
            code INTEGER,
            leftovers INTEGER NOT NULL DEFAULT 0,
            expiration TEXT,
            progress_completed INTEGER,
            progress_total INTEGER,
            progress_message ANY,
            cpu_ns INTEGER NOT NULL DEFAULT 0,
            cpu_is_lower_bound INTEGER NOT NULL DEFAULT 0,
            peak_memory INTEGER,
            isolation ANY NOT NULL,
            library_hash TEXT,
            is_simulated INTEGER NOT NULL,
            explanation ANY,
            CHECK ((state = 'ended') = (outcome IS NOT NULL) AND (state = 'ended') = (ended_ms IS NOT NULL))
        ) STRICT;
        CREATE UNIQUE INDEX launches_open ON launches (request) WHERE state <> 'ended';
        CREATE INDEX launches_of_request ON launches (request);
        CREATE INDEX launches_of_identifier ON launches (identifier, id);

        CREATE TABLE successes (
            identifier TEXT PRIMARY KEY,
            at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE settings (
            key ANY PRIMARY KEY NOT NULL,
            value ANY NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
