import FoundationEssentials
import LinuxSystem
import TaskModel

/// The store's files in a state directory.
struct StoreFiles {
    let directory: String

    /// The database.
    var database: String { directory + "/store.sqlite" }
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

    /// Makes an empty database file that others can't read; SQLite gives its companions the same rights.
    func makeDatabaseFile() throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: database) else { return }
        if FileManager.default.createFile(
            atPath: database, contents: nil, attributes: [.posixPermissions: 0o600])
        {
            return
        }
        throw StoreError(
            code: .cannotOpen, subject: database, finding: "the file can't be made",
            remedy: "The host's user must be able to write the state directory, and there must be room")
    }
}
