/// Constants that both ends of the control channel share.
public enum ControlProtocol {
    /// The version in the path of every request.
    ///
    /// Within a version, fields may be added, but no field is removed or changes its meaning.
    public static let version = 1
    /// The prefix of every path.
    public static let pathPrefix = "/v1"
    /// The largest body of a request, in bytes: enough for a payload of 48 KiB with every byte escaped, and
    /// the other keys.
    public static let maximumBodyLength = 512 << 10
    /// The largest body of a response that a client reads, in bytes; their own limits keep listings below it.
    public static let maximumResponseLength = 64 << 20
    /// The largest number of rows in one page of a listing.
    public static let maximumPageLength = 1000
    /// The greatest number of transfers that one call can begin.
    public static let maximumTransfers = 1000
    /// The greatest number of stored log lines in one answer, and the default.
    public static let maximumLogLines = 10_000
    /// The number of pending requests in a page that sets no limit.
    public static let standardPageLength = 500
    /// The number of launches in a listing that sets no limit.
    public static let standardLaunchLimit = 50
    /// Seconds between the comment lines that show that an event stream is still open.
    public static let heartbeatSeconds: Int64 = 15
}
