/// Constants that both ends of the control channel share.
public enum ControlProtocol {
    /// The version in every path.
    ///
    /// A field may be added within it, never removed or given another meaning.
    public static let version = 1
    /// The prefix of every path.
    public static let pathPrefix = "/v1"
    /// The largest body of a request: room for a payload of 48 KiB with every byte escaped, and the rest.
    public static let maximumBodyLength = 512 << 10
    /// The largest body of a response that a client reads at once; listings are bounded by their limit.
    public static let maximumResponseLength = 64 << 20
    /// The most launches that one listing gives.
    public static let maximumLaunchLimit = 1000
    /// The most launches of a listing without a limit of its own.
    public static let standardLaunchLimit = 50
    /// Seconds between the comments that show that an event stream is alive.
    public static let heartbeatSeconds: Int64 = 15
}
