/// A grant of a manifest that opens files of the host itself, or files that start programs outside of the
/// sandbox.
public struct HostGrant: Equatable, Sendable {
    /// The path of the grant, as the manifest has it.
    public let path: String
    /// Whether it is a write grant, with which the host launches nothing.
    public let isWrite: Bool
    /// What it opens, such as `the host's manifests, /etc/bgtask/manifests`.
    public let opens: String

    public init(path: String, isWrite: Bool, opens: String) {
        (self.path, self.isWrite, self.opens) = (path, isWrite, opens)
    }

    /// Why the host refuses launches with this write grant, and what to do.
    public var refusal: (finding: String, remedy: String) {
        (
            "with the write grant '\(path)', tasks could change \(opens), and so control the host",
            "Grant another directory; a program that is not a task can copy files from there"
        )
    }
}
