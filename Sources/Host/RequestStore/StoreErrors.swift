import GRDB
import TaskModel

extension StoreError {
    /// Converts an error of a database call to an error of the store.
    ///
    /// - Parameters:
    ///   - error: The error that the call threw.
    ///   - file: The path of the database.
    /// - Returns: The error of the store.
    static func translating(_ error: any Error, file: String) -> StoreError {
        if let known = error as? StoreError { return known }
        guard let database = error as? DatabaseError else {
            return .damaged(file: file, finding: "\(error)")
        }
        let words =
            "SQLite reported: \(database.message ?? "no text") (\(database.extendedResultCode.rawValue))"
        switch database.resultCode {
        case .SQLITE_FULL:
            return diskFull(file: file, words: words)
        case .SQLITE_IOERR
        where [.SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_WRITE].contains(database.extendedResultCode):
            // SQLite reports these codes if the disk is full while its shared memory grows, and if a limit on
            // file sizes is reached.
            return diskFull(file: file, words: words)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR:
            return .damaged(file: file, finding: words)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            return StoreError(
                code: .cannotOpen, subject: file, finding: words,
                remedy: "Make the file and its directory readable and writable for the host's user")
        case .SQLITE_MISUSE:
            return closed(file: file)
        default:
            return StoreError(
                code: .inputOutput, subject: file, finding: words,
                remedy:
                    "Try again. If it fails again, run 'journalctl -k': if that shows errors of the disk, copy the "
                    + "state directory to another disk, and set 'paths.state' (--state) to the copy")
        }
    }

    static func damaged(file: String, finding: String) -> StoreError {
        StoreError(
            code: .damaged, subject: file, finding: finding,
            remedy:
                "Restore a backup, or run 'bgtaskd --set-aside-store' for the same state directory: it renames "
                + "the files, and the next host starts with an empty store. Nothing is renamed without that command"
        )
    }

    static func closed(file: String) -> StoreError {
        StoreError(
            code: .closed, subject: file, finding: "the store is closed",
            remedy: "Try again when the host is running")
    }

    static func diskFull(file: String, words: String) -> StoreError {
        StoreError(
            code: .diskFull, subject: file, finding: "\(words): no space is left for the store",
            remedy:
                "Free some space in its file system. A running host then continues by itself; a host that was "
                + "stopped or killed can't start before")
    }
}
