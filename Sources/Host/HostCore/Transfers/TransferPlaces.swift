import TaskModel

/// Which open download each file belongs to: of two downloads to one file, one would be lost.
struct TransferPlaces: Sendable {
    private var owners: [String: TransferID] = [:]

    /// Notes the file of a download.
    ///
    /// The file of an upload, and one in a session's directory, are not noted.
    ///
    /// - Returns: The other download that has the file already; `nil` if there is none.
    mutating func claim(_ transfer: Transfer) -> TransferID? {
        guard transfer.request.direction == .download, let file = transfer.request.file else { return nil }
        let owner = owners[file, default: transfer.id]
        owners[file] = owner
        return owner == transfer.id ? nil : owner
    }

    /// Forgets the file of a transfer that has ended or was not accepted.
    mutating func release(_ transfer: Transfer) {
        guard let file = transfer.request.file, owners[file] == transfer.id else { return }
        owners[file] = nil
    }
}
