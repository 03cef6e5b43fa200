import GRDB
import TaskModel

/// Converts facts, such as states of bundles, to and from rows of the table `settings`, one for each fact.
enum FactRow {
    /// The prefixes of the keys; the bundle's identifier follows the prefix.
    private enum Key: String, CaseIterable {
        case bundleState = "bundle/"
        case launchedApp = "app launch/"
        case advice = "advice/"
        case transferUse = "transfers/"
        /// The number of a data directory; only older hosts numbered the directories.
        case directory = "directory of "

        func text(of bundle: BundleIdentifier) -> String { rawValue + bundle.rawValue }
    }

    private static let bootKey = "host.boot"
    private static let pauseKey = "host.pause"
    /// The key of a counter for data directories, which only older hosts used.
    private static let directoryCounterKey = "next bundle directory"

    /// Writes a fact; an older value of the same fact is replaced.
    static func write(_ fact: StoredFact, in db: Database) throws {
        switch fact {
        case .bundleState(let bundle, let state):
            try set(Key.bundleState.text(of: bundle), StoredJSON.text(of: StoredBundleState(state)), in: db)
        case .launchedApp(let bundle, let hash):
            try set(Key.launchedApp.text(of: bundle), hash, in: db)
        case .advice(let bundle, let advice):
            let text = try advice.map { try StoredJSON.text(of: StoredAdvice($0)) }
            try set(Key.advice.text(of: bundle), text, in: db)
        case .boot(let boot): try set(bootKey, boot, in: db)
        case .pause(let pause):
            try set(pauseKey, pause.map { try StoredJSON.text(of: StoredPause($0)) }, in: db)
        case .transferUse(let bundle, let use):
            try set(Key.transferUse.text(of: bundle), StoredJSON.text(of: StoredTransferUse(use)), in: db)
        case .directoryRenamed(let bundle): try set(Key.directory.text(of: bundle), nil, in: db)
        }
    }

    /// Writes the value of a row; `nil` deletes the row.
    static func set(_ key: String, _ value: String?, in db: Database) throws {
        guard let value else {
            try db.cachedStatement(sql: "DELETE FROM settings WHERE key = ?")
                .execute(arguments: [StoredText.encode(key)])
            return
        }
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)")
            .execute(arguments: [StoredText.encode(key), StoredText.encode(value)])
    }

    /// Reads all facts; a row that can't be read becomes a sentence in ``StoredFacts/unreadable``.
    static func readAll(in db: Database) throws -> StoredFacts {
        var facts = StoredFacts()
        for row in try Row.fetchAll(db, sql: "SELECT key, value FROM settings ORDER BY key") {
            read(row, into: &facts)
        }
        return facts
    }

    private static func read(_ row: Row, into facts: inout StoredFacts) {
        var key = "a key that is not text"
        do {
            key = try StoredText.decode(row, "key")
            let value = try StoredText.decode(row, "value")
            if key == bootKey {
                facts.boot = value
            } else if key == pauseKey {
                facts.pause = try StoredJSON.decode(StoredPause.self, from: value).pause
            } else if key != directoryCounterKey {
                try read(key, value, into: &facts)
            }
        } catch {
            facts.unreadable.append(
                "The store's row \(key.debugDescription) can't be read: \(StoredJSON.sentence(of: error)). "
                    + "The host ignores this row")
        }
    }

    private static func read(_ key: String, _ value: String, into facts: inout StoredFacts) throws {
        guard let known = Key.allCases.first(where: { key.hasPrefix($0.rawValue) }) else {
            throw StoredColumnError(finding: "this version of bgtaskd does not know the key")
        }
        let bundle = try BundleIdentifier(String(key.dropFirst(known.rawValue.count)))
        switch known {
        case .bundleState:
            facts.bundleStates[bundle] = try StoredJSON.decode(StoredBundleState.self, from: value).state
        case .launchedApp: facts.launchedApps[bundle] = value
        case .advice: facts.advice[bundle] = try StoredJSON.decode(StoredAdvice.self, from: value).advice
        case .transferUse:
            facts.transferUse[bundle] = try StoredJSON.decode(StoredTransferUse.self, from: value).use
        case .directory:
            guard Int(value) != nil else {
                throw StoredColumnError(
                    finding:
                        "the value '\(value)' is not a number, but earlier versions of bgtaskd stored one here, which named the "
                        + "data directory of \(bundle); files in that old directory are not used")
            }
            facts.numberedDirectories[bundle] = value
        }
    }
}
