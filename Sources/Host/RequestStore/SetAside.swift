import FoundationEssentials
public import TaskModel

extension SQLiteRequestStore {
    /// Renames the files of a store, so that the next host creates an empty store.
    ///
    /// The database and its log keep matching names, so that `sqlite3` can open them together. The log is
    /// renamed first, so that a new store never uses an old log.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: The present time, which becomes part of the names.
    /// - Returns: The new paths; empty if there was no store.
    /// - Throws: ``StoreError``: `inUse` while a host uses the directory, or `cannotOpen` if a file can't be
    ///   renamed.
    public static func setAside(directory: String, at time: WallTime) throws(StoreError) -> [String] {
        let files = StoreFiles(directory: directory)
        let lock = try files.takeLock(details: "setting the store aside")
        defer { withExtendedLifetime(lock) {} }
        let stamp = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
            .formatted(
                Date.ISO8601FormatStyle(timeZoneSeparator: .omitted).year().month().day()
                    .dateSeparator(.omitted).time(includingFractionalSeconds: false).timeSeparator(.omitted))
        let base = "\(files.database).set-aside-\(stamp)Z"
        var moved: [String] = []
        for (old, new) in [(files.log, base + "-wal"), (files.index, base + "-shm"), (files.database, base)]
        where FileManager.default.fileExists(atPath: old) {
            do {
                try FileManager.default.moveItem(atPath: old, toPath: new)
            } catch {
                throw StoreError(
                    code: .cannotOpen, subject: old, finding: "it can't be renamed to \(new): \(error)",
                    remedy: "Make the state directory writable and run the command again")
            }
            moved.append(new)
        }
        return moved
    }
}
