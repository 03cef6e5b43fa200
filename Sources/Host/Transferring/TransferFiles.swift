public import LinuxSystem
public import TaskModel

/// A complete file that waits in the directory of the transfers, and the path where it belongs.
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
/// The names of a transfer's files begin with its number. A directory for each transfer would cost most file
/// systems more than a small file. Any thread may call the functions; they block. The caller must not
/// deliver or remove the files of one transfer twice at the same time.
public struct TransferFiles: Sendable {
    /// The directory of all transfers.
    public let root: String

    /// The directory of the host's own files.
    private let protected: String?

    /// The data directory of a bundle; the bundle's handover directory is in it.
    let dataDirectory: @Sendable (BundleIdentifier) -> String

    /// Uses a directory, which need not exist.
    ///
    /// - Parameters:
    ///   - root: The directory of all transfers.
    ///   - protected: The host's directory, in which no place may be, without links; `nil` for none.
    ///   - dataDirectory: Returns the data directory of a bundle.
    public init(
        root: String, protected: String? = nil,
        dataDirectory: @escaping @Sendable (BundleIdentifier) -> String
    ) {
        self.root = root
        self.protected = protected
        self.dataDirectory = dataDirectory
    }

    /// What a file of a transfer is; its name ends so.
    enum Kind: String, CaseIterable {
        case part, data, resume
        case newResume = "resume.new"
    }

    /// The path of a file of a transfer.
    func path(_ kind: Kind, of id: TransferID) -> String { "\(root)/\(name(kind, of: id))" }

    private func name(_ kind: Kind, of id: TransferID) -> String { "\(id.rawValue).\(kind.rawValue)" }

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
        var parcels: [String: [(file: CompleteFile, parcel: FileDelivery.Parcel)]] = [:]
        for file in files {
            let parcel = FileDelivery.Parcel(source(of: file.id), at: file.place, mark: "\(file.id)")
            parcels[parcel.directory, default: []].append((file, parcel))
        }
        for entries in parcels.values {
            let results = FileDelivery.link(entries.map(\.parcel), outside: protected)
            for (entry, result) in zip(entries, results) {
                switch result {
                case .done: delivered.append((entry.file.id, nil))
                case .distant: distant.append(entry.file)
                case .failed(let error): delivered.append((entry.file.id, Self.failure(error)))
                }
            }
        }
        return (delivered, distant)
    }

    /// Puts a complete file into its place, by copying it if it must.
    ///
    /// - Returns: Why that failed; `nil` if the file is durable in its place.
    public func copy(_ file: CompleteFile) -> TransferFailure? {
        do throws(SystemCallError) {
            try FileDelivery.put(
                source(of: file.id), at: file.place, outside: protected, mark: "\(file.id)")
            return nil
        } catch {
            return Self.failure(error)
        }
    }

    func source(of id: TransferID) -> String { path(.data, of: id) }

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
        if error.isTooDeep {
            return TransferFailure(
                .badPlace,
                "the file can't be put into its place, because there is a link in the path of its directory, "
                    + "which was not there when the host accepted the transfer: \(error.subject)")
        }
        if error.isOfProtectedPlace {
            return TransferFailure(
                .badPlace,
                "the file can't be put into its place, because the host keeps its own files there: "
                    + error.subject)
        }
        return TransferFailure(.notDelivered, "the file can't be put into its place: \(error)")
    }

    /// Removes the files of a transfer.
    ///
    /// - Throws: The system call that failed.
    public func remove(_ id: TransferID) throws(SystemCallError) {
        for kind in Kind.allCases { try DirectoryTree.removeFile(path(kind, of: id)) }
    }

    /// Removes the files of several transfers.
    ///
    /// - Returns: Those whose files could not be removed, and the system call that failed.
    public func remove(_ ids: [TransferID]) -> [(id: TransferID, error: SystemCallError)] {
        DirectoryTree.removeFiles(in: root, ids.map { id in (id, Kind.allCases.map { name($0, of: id) }) })
            .map { ($0.key, $0.error) }
    }

    /// Removes the files of transfers that no one needs any more.
    ///
    /// A crash between the end of a transfer and the removal of its files leaves such files. Hosts before
    /// decision 102 made a directory for each transfer; the files in it get their present names.
    ///
    /// - Parameter kept: The transfers whose files stay.
    /// - Returns: The transfers whose files were removed.
    /// - Throws: The system call that failed.
    public func sweep(keeping kept: Set<TransferID>) throws(SystemCallError) -> [TransferID] {
        guard DirectoryTree.isDirectory(root) else { return [] }
        var removed: Set<TransferID> = []
        for name in try DirectoryTree.names(in: root) {
            let number = name.prefix { $0 != "." }
            guard let id = TransferID("T\(number)"), "\(id.rawValue)" == number else { continue }
            let kind = name.dropFirst(number.count)
            guard kind.isEmpty || Kind(rawValue: String(kind.dropFirst())) != nil else { continue }
            if kind.isEmpty { try unpack(id) }
            guard !kept.contains(id) else { continue }
            try remove(id)
            removed.insert(id)
        }
        return removed.sorted()
    }

    /// Gives the files in the directory of a transfer of an older host their present names.
    private func unpack(_ id: TransferID) throws(SystemCallError) {
        let directory = "\(root)/\(id.rawValue)"
        for kind in [Kind.data, .part, .resume] {
            try Self.rename("\(directory)/\(kind.rawValue)", to: path(kind, of: id))
        }
        try DirectoryTree.remove(directory)
    }

    /// Renames a file of a transfer, if it exists.
    static func rename(_ path: String, to other: String) throws(SystemCallError) {
        if DirectoryTree.isMissing(path) { return }
        _ = try DirectoryTree.rename(path, to: other)
    }
}
