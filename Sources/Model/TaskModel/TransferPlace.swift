/// Where the complete file of a download belongs.
public enum TransferPlace: Hashable, Sendable {
    /// An absolute path, which a person or a client named.
    case path(String)
    /// A name in the handover directory of a bundle, one of whose sessions asked for the file.
    case handover(BundleIdentifier, String)
}

extension TransferRequest {
    /// Where the downloaded file belongs; `nil` for an upload, and if the host keeps the file.
    public var place: TransferPlace? {
        guard direction == .download else { return nil }
        return handover.map { .handover(bundle, $0) } ?? file.map { .path($0) }
    }
}
