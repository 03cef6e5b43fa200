public import LinuxSystem
public import TaskModel

/// A complete file that waits in its transfer's directory, and the path where it belongs.
public struct CompleteFile: Sendable {
    /// The transfer.
    public let id: TransferID
    let place: String

    /// Creates a complete file.
    public init(id: TransferID, place: String) {
        self.id = id
        self.place = place
    }
}

/// The files of transfers in the directory that the program `bgtask-transfer` also uses.
///
/// Each transfer has a directory of its own, named by its number. Any thread may call the functions; they
/// block. The caller must not deliver or remove the files of one transfer twice at the same time.
public struct TransferFiles: Sendable {
    /// The directory of all transfers.
    public let root: String

    /// The user of the program, to whom the directories belong; `nil` if it is the host's own.
    public let user: UInt32?

    /// The data directory of a bundle; the bundle's handover directory is in it.
    let dataDirectory: @Sendable (BundleIdentifier) -> String

    /// Uses a directory, which need not exist.
    ///
    /// - Parameters:
    ///   - root: The directory of all transfers.
    ///   - user: The user of the program; `nil` if it is the host's own.
    ///   - dataDirectory: Returns the data directory of a bundle.
    public init(
        root: String, user: UInt32? = nil, dataDirectory: @escaping @Sendable (BundleIdentifier) -> String
    ) {
        self.root = root
        self.user = user
        self.dataDirectory = dataDirectory
    }

    /// Makes the directory of a transfer if it is missing.
    ///
    /// - Throws: The system call that failed.
    func make(_ id: TransferID) throws(SystemCallError) {
        guard let user else { return try DirectoryTree.make(directory(of: id)) }
        try DirectoryTree.make(directory(of: id), owner: user, group: user)
    }

    /// The directory of a transfer.
    public func directory(of id: TransferID) -> String { "\(root)/\(id.rawValue)" }

    /// Puts complete files into their places, without copying a byte; one sync makes those of one directory
    /// durable.
    ///
    /// - Returns: What became of each; files whose places are on other file systems are in `distant`, and
    ///   ``copy(_:)`` can put them there.
    public func link(
        _ files: [CompleteFile]
    ) -> (delivered: [(id: TransferID, problem: TransferFailure?)], distant: [CompleteFile]) {
        var delivered: [(id: TransferID, problem: TransferFailure?)] = []
        var distant: [CompleteFile] = []
        var linked: [String: [TransferID]] = [:]
        for file in files {
            do throws(SystemCallError) {
                let directory = try FileDelivery.link(source(of: file.id), at: file.place, mark: "\(file.id)")
                if let directory {
                    linked[directory, default: []].append(file.id)
                } else {
                    distant.append(file)
                }
            } catch {
                delivered.append((file.id, Self.failure(error)))
            }
        }
        for (directory, ids) in linked {
            var problem: TransferFailure?
            do throws(SystemCallError) {
                try FileDelivery.sync(directory)
            } catch {
                problem = Self.failure(error)
            }
            delivered += ids.map { ($0, problem) }
        }
        return (delivered, distant)
    }

    /// Puts a complete file into its place, by copying it if it must.
    ///
    /// - Returns: Why that failed; `nil` if the file is durable in its place.
    public func copy(_ file: CompleteFile) -> TransferFailure? {
        do throws(SystemCallError) {
            try FileDelivery.put(source(of: file.id), at: file.place, mark: "\(file.id)")
            return nil
        } catch {
            return Self.failure(error)
        }
    }

    func source(of id: TransferID) -> String { directory(of: id) + "/data" }

    static func failure(_ error: SystemCallError) -> TransferFailure {
        if error.isExisting || error.isOfDirectory {
            return TransferFailure(
                .badPlace,
                "the file can't be put into its place, because a directory, a device or a pipe is there: "
                    + error.subject)
        }
        if error.isOfLongName {
            return TransferFailure(
                .badPlace,
                "the file can't be put into its place, because its name is too long: \(error.subject)")
        }
        return TransferFailure(.notDelivered, "the file can't be put into its place: \(error)")
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
