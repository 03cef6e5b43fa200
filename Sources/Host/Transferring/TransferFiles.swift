public import LinuxSystem
public import TaskModel

/// The files of transfers in the directory that the program `bgtask-transfer` also uses.
///
/// Each transfer has a directory of its own, named by its number. Any thread may call the functions; they
/// block. The caller must not deliver or remove the files of one transfer twice at the same time.
public struct TransferFiles: Sendable {
    /// The directory of all transfers.
    public let root: String

    /// Uses a directory, which need not exist.
    public init(root: String) { self.root = root }

    /// The directory of a transfer.
    public func directory(of id: TransferID) -> String { "\(root)/\(id.rawValue)" }

    /// Puts a complete file into its place.
    ///
    /// - Returns: Why that failed; `nil` if the file is durable in its place.
    public func deliver(_ id: TransferID, to place: String) -> TransferFailure? {
        do {
            try FileDelivery.put(directory(of: id) + "/data", at: place, mark: "\(id)")
            return nil
        } catch {
            return TransferFailure(.notDelivered, "the file can't be put into its place: \(error)")
        }
    }

    /// Removes the files of a transfer.
    ///
    /// - Throws: The system call that failed.
    public func remove(_ id: TransferID) throws(SystemCallError) {
        try DirectoryTree.remove(directory(of: id))
    }

    /// Removes the directories of transfers that no one needs any more.
    ///
    /// A crash between the end of a transfer and the removal of its directory leaves such a directory.
    ///
    /// - Parameter kept: The transfers whose files stay.
    /// - Returns: The transfers whose files were removed.
    /// - Throws: The system call that failed.
    public func sweep(keeping kept: Set<TransferID>) throws(SystemCallError) -> [TransferID] {
        guard DirectoryTree.isDirectory(root) else { return [] }
        var removed: [TransferID] = []
        for name in try DirectoryTree.names(in: root) {
            guard let id = TransferID("T\(name)"), "\(id.rawValue)" == name, !kept.contains(id) else {
                continue
            }
            try remove(id)
            removed.append(id)
        }
        return removed.sorted()
    }
}
