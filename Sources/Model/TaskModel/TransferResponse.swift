/// What the server said in its newest final response.
public struct TransferResponse: Equatable, Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The address after all redirects.
    public var url: String
    /// The header lines, the status line first.
    public var headers: [String]

    /// The header lines without the values of cookies, and without the users of addresses such as that of
    /// `Location`; for people and listings.
    public var publicHeaders: [String] {
        headers.map { line in
            let name = line.prefix { $0 != ":" }
            return name.lowercased().hasPrefix("set-cookie")
                ? "\(name): ***" : TransferRequest.withoutUser(line)
        }
    }

    /// Creates a response.
    public init(status: Int, url: String, headers: [String]) {
        self.status = status
        self.url = url
        self.headers = headers
    }
}

/// Why an attempt or a transfer failed.
public struct TransferFailure: Equatable, Sendable {
    /// Where the code comes from; the raw values are part of the control API.
    public enum Domain: String, Sendable, Codable {
        /// libcurl; the code is a `CURLcode`.
        case network
        /// The server; the code is an HTTP status.
        case server
        /// The host; see ``HostCode``.
        case host
    }

    /// The codes of the domain `host`; they never change.
    public enum HostCode: Int, Sendable {
        /// The transfer's own file or program failed.
        case local = 1
        /// The transfer took longer than its limit.
        case timedOut = 2
        /// It was cancelled.
        case cancelled = 3
        /// The file could not be put into its place.
        case notDelivered = 4
        /// The file can't be put into its place at any time: a directory is there, or the name is too long.
        case badPlace = 5
    }

    /// Where the code comes from.
    public var domain: Domain
    /// The code.
    public var code: Int
    /// A sentence for people.
    public var message: String

    /// Whether the place of the file is wrong, so that another attempt would fail in the same way.
    public var isOfPlace: Bool { domain == .host && code == HostCode.badPlace.rawValue }

    /// Creates a failure.
    public init(domain: Domain, code: Int, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }

    /// Creates a failure of the host.
    public init(_ code: HostCode, _ message: String) {
        self.init(domain: .host, code: code.rawValue, message: message)
    }
}
