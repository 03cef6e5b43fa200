public import LinuxSystem
public import TaskModel

/// The files of transfers that tasks asked for by a background session: they come from a handover directory,
/// or belong there.
extension TransferFiles {
    /// Opens the file that a transfer sends; `nil` for a download.
    ///
    /// - Throws: The system call that failed.
    func open(_ request: TransferRequest) throws(SystemCallError) -> SendingFile? {
        guard request.direction == .upload else { return nil }
        if let name = request.handover { return try handover(of: request.bundle).open(name) }
        guard let path = request.file else { return nil }
        return try SendingFile(withoutLinks: path)
    }

    /// Puts a complete file into the handover directory of a bundle.
    ///
    /// - Parameters:
    ///   - id: The transfer.
    ///   - bundle: The bundle.
    ///   - name: The name of the file in the directory.
    /// - Returns: Why that failed; `nil` if the file is durable there.
    public func handOver(_ id: TransferID, to bundle: BundleIdentifier, as name: String) -> TransferFailure? {
        do throws(SystemCallError) {
            try handover(of: bundle).put(source(of: id), as: name)
            return nil
        } catch {
            return Self.failure(error)
        }
    }

    /// Removes the file of an upload, and that of its answer, from its bundle's handover directory.
    public func discard(_ transfer: Transfer) {
        let request = transfer.request
        guard let name = request.handover, request.direction == .upload else { return }
        // The app may have removed them, and the bundle may be gone.
        guard let directory = try? handover(of: request.bundle) else { return }
        for name in [name] + (transfer.answerFile.map { [$0] } ?? []) { directory.remove(name) }
    }

    /// Removes the copies for uploads that nothing will send from the handover directory in a data directory.
    ///
    /// - Parameters:
    ///   - data: The data directory of a bundle.
    ///   - kept: The names of the files that will be sent.
    ///   - start: When this host began, in seconds since 1970; newer files stay.
    /// - Returns: The names of the removed files.
    public func sweepUploads(
        in data: String, keeping kept: Set<String>, writtenBefore start: Int
    ) -> [String] {
        guard DirectoryTree.isDirectory("\(data)/\(HandoverDirectory.name)"),
            let directory = try? HandoverDirectory(in: data)
        else { return [] }
        return directory.sweep(keeping: kept, writtenBefore: start)
    }

    /// Gives the bytes of a transfer that has ended to another one, which continues it.
    ///
    /// - Throws: The system call that failed; the other transfer then begins with its first byte.
    public func move(_ id: TransferID, to other: TransferID) throws(SystemCallError) {
        try remove(other)
        // The record goes last, and only if its part has gone: alone, it would describe other bytes. A part
        // without a record is right, and is not continued.
        for kind in [Kind.data, .part, .resume] {
            try Self.rename(path(kind, of: id), to: path(kind, of: other))
        }
    }

    private func handover(of bundle: BundleIdentifier) throws(SystemCallError) -> HandoverDirectory {
        try HandoverDirectory(in: dataDirectory(bundle))
    }
}
