import FoundationEssentials
import LinuxSystem
import TaskModel

/// The store's files in a state directory.
struct StoreFiles {
    let directory: String

    /// The path of the database.
    var database: String { directory + "/store.sqlite" }
    /// The path of a new database while it is being created.
    var unfinished: String { database + ".unfinished" }
    /// The path of SQLite's write-ahead log, which is written before the database.
    var log: String { database + "-wal" }
    /// The path of SQLite's shared index of the log; it is of no use without open connections.
    var index: String { database + "-shm" }
    /// The path of the lock, which contains the text about the host that holds it.
    var lock: String { directory + "/store.lock" }

    /// Takes the lock of the directory; creates the directory if it does not exist.
    func takeLock(details: String) throws(StoreError) -> FileLock {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(
                code: .cannotOpen, subject: directory,
                finding: "the state directory can't be created: \(error)",
                remedy:
                    "Set 'paths.state' (--state) to another directory, or create this one for the host's user"
            )
        }
        do throws(FileLock.Failure) {
            return try FileLock(path: lock, owner: FileLock.ownerText(details: details))
        } catch {
            switch error {
            case .held(let path, let owner):
                throw StoreError(
                    code: .inUse, subject: directory,
                    finding: "another host uses it: \(owner.isEmpty ? "it holds \(path)" : owner)",
                    remedy: "Stop that host, or set 'paths.state' (--state) of this one to another directory")
            case .system(let failure) where failure.isFullDisk:
                throw .diskFull(file: lock, words: failure.description)
            case .system(let failure):
                throw StoreError(
                    code: .cannotOpen, subject: lock, finding: failure.description,
                    remedy:
                        "Make sure that the host's user can write the state directory, then start the host again"
                )
            }
        }
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Whether a file is empty; false if its size can't be read.
    static func isEmpty(_ path: String) -> Bool {
        (try? sizeOfFile(path)) == 0
    }

    /// Creates an empty file that only its owner can read, and removes an unfinished one.
    ///
    /// SQLite gives its other files the same permissions.
    func beginMaking() throws(StoreError) {
        removeUnfinished()
        let rights: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if FileManager.default.createFile(atPath: unfinished, contents: nil, attributes: rights) { return }
        throw StoreError(
            code: .cannotOpen, subject: unfinished, finding: "the file can't be created",
            remedy:
                "Make the state directory writable for the host's user, and make sure that it has free space")
    }

    /// Renames the finished file to its final name.
    func finishMaking() throws(StoreError) {
        do {
            try FileManager.default.moveItem(atPath: unfinished, toPath: database)
        } catch {
            throw StoreError(
                code: .cannotOpen, subject: unfinished,
                finding: "it can't be renamed to \(database): \(error)",
                remedy:
                    "Make sure that the disk has free space, and that the state directory is writable for the host's user"
            )
        }
        removeUnfinished()
        try syncNames()
    }

    private func removeUnfinished() {
        for left in [unfinished + "-wal", unfinished + "-shm", unfinished] where exists(left) {
            // An error is ignored here: if the directory is not writable, a later step fails and reports it.
            try? FileManager.default.removeItem(atPath: left)
        }
    }

    /// Makes the names of the files durable.
    func syncNames() throws(StoreError) {
        do throws(SystemCallError) {
            try syncDirectory(directory)
        } catch {
            throw StoreError(
                code: .inputOutput, subject: directory, finding: error.description,
                remedy:
                    "Run 'journalctl -k': if it shows errors of the disk, copy the state directory to another disk, "
                    + "and set 'paths.state' (--state) to the copy")
        }
    }
}
