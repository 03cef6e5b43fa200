import FoundationEssentials
import LinuxSystem
import TaskModel

/// The store's files in a state directory.
struct StoreFiles {
    let directory: String

    /// The database.
    var database: String { directory + "/store.sqlite" }
    /// A new database until it is whole.
    var unfinished: String { database + ".unfinished" }
    /// What SQLite appends to before it writes the database.
    var log: String { database + "-wal" }
    /// SQLite's index of the log, shared between connections; worthless without them.
    var index: String { database + "-shm" }
    /// Who has the directory.
    var lock: String { directory + "/store.lock" }

    /// Takes the lock of the directory, which is made if it is missing.
    func takeLock(details: String) throws(StoreError) -> FileLock {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(
                code: .cannotOpen, subject: directory, finding: "the state directory can't be made: \(error)",
                remedy: "Name another one with --state, or make it writable for the host's user")
        }
        do throws(FileLock.Failure) {
            return try FileLock(path: lock, owner: FileLock.ownerText(details: details))
        } catch {
            switch error {
            case .held(let path, let owner):
                throw StoreError(
                    code: .inUse, subject: directory,
                    finding: "another host has it: \(owner.isEmpty ? "it holds \(path)" : owner)",
                    remedy: "Stop that host, or name another directory with --state")
            case .system(let failure):
                throw StoreError(
                    code: .cannotOpen, subject: lock, finding: failure.description,
                    remedy: "The host's user must be able to write the state directory")
            }
        }
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Whether a file has no bytes; false if its size can't be read.
    static func isEmpty(_ path: String) -> Bool {
        (try? sizeOfFile(path)) == 0
    }

    /// Makes an empty file that others can't read, in place of one that was not finished.
    ///
    /// SQLite gives its companions the same rights.
    func beginMaking() throws(StoreError) {
        removeUnfinished()
        let rights: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if FileManager.default.createFile(atPath: unfinished, contents: nil, attributes: rights) { return }
        throw StoreError(
            code: .cannotOpen, subject: unfinished, finding: "the file can't be made",
            remedy: "The host's user must be able to write the state directory, and there must be room")
    }

    /// Gives the finished file its name, for good.
    func finishMaking() throws(StoreError) {
        do {
            try FileManager.default.moveItem(atPath: unfinished, toPath: database)
        } catch {
            throw StoreError(
                code: .cannotOpen, subject: unfinished,
                finding: "it can't be renamed to \(database): \(error)",
                remedy: "The host's user must be able to write the state directory")
        }
        removeUnfinished()
        try syncNames()
    }

    private func removeUnfinished() {
        for left in [unfinished + "-wal", unfinished + "-shm", unfinished] where exists(left) {
            // If one can't be removed, making the new file reports why.
            try? FileManager.default.removeItem(atPath: left)
        }
    }

    /// Makes the files' names durable.
    func syncNames() throws(StoreError) {
        do throws(SystemCallError) {
            try syncDirectory(directory)
        } catch {
            throw StoreError(
                code: .inputOutput, subject: directory, finding: error.description,
                remedy: "Look at the kernel log for errors of the disk")
        }
    }
}
