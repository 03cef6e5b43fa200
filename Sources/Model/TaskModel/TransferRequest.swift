/// A request for a transfer that the host makes, whatever happens to its client.
public struct TransferRequest: Equatable, Sendable {
    /// The direction of a transfer.
    public enum Direction: String, Sendable, Codable, CaseIterable {
        /// From the server into a file.
        case download
        /// From a file to the server.
        case upload
    }

    /// The bundle that the transfer belongs to; its bytes count for it.
    public var bundle: BundleIdentifier
    /// The identifier of the background session; `nil` for a transfer of a command or a client.
    public var session: String?
    /// The number of the task within its session; `nil` without a session.
    public var taskIdentifier: Int?
    /// The direction.
    public var direction: Direction
    /// The address; only `http` and `https` are permitted, also after redirects.
    public var url: String
    /// The method; `nil` means GET for a download and PUT for an upload.
    public var method: String?
    /// Further header lines, each as `Name: value`.
    public var headers: [String] = []
    /// The absolute path of the file to send, or of the file that a download creates or replaces.
    ///
    /// With `nil`, the host keeps a downloaded file in the transfer's own directory.
    public var file: String?
    /// The name of a file in the bundle's handover directory: the file to send, or the file that a download
    /// creates; `nil` unless a task of the bundle asked for the transfer.
    ///
    /// The bundle can read and write this directory, and the host follows no link in it.
    public var handover: String?
    /// What the app wants to remember of the task; `nil` for nothing.
    public var note: String?
    /// How important the transfer is among those of its bundle, from 0 to 1; `nil` means 0.5.
    public var priority: Double?
    /// Whether the end of the session's transfers launches the bundle; `nil` means yes.
    public var sendsLaunchEvents: Bool?
    /// Whether the session's delegate decides about the beginning when ``earliestBeginDate`` has come.
    public var asksBeforeBegin: Bool?
    /// The transfer whose bytes a download continues; `nil` if it begins again.
    public var resumes: TransferID?
    /// Whether the transfer waits for external power and an unmetered network.
    public var isDiscretionary = false
    /// Whether a metered network may be used.
    public var allowsMetered = true
    /// Whether the network may be used in low-data mode.
    public var allowsConstrained = true
    /// The transfer does not begin before this time; `nil` if it may begin now.
    public var earliestBeginDate: WallTime?
    /// The number of bytes that the client expects to send; `nil` if it does not know.
    public var expectedToSend: Int64?
    /// The number of bytes that the client expects to receive; `nil` if it does not know.
    public var expectedToReceive: Int64?
    /// The longest time without a byte before an attempt fails: 60 s, as in Apple's sessions.
    public var stallLimit = Duration.seconds(60)
    /// The longest time from the acceptance to the end: 7 days, as in Apple's sessions.
    public var resourceLimit = Duration.seconds(7 * 86_400)
    /// The wait after the first failed attempt in a row: 5 s.
    ///
    /// It doubles with each further one, up to ``longestRetryDelay``.
    public var retryDelay = Duration.seconds(5)

    /// The longest wait between two attempts: 15 min.
    ///
    /// Our choice: a server that is down for a day is asked about 100 times.
    public static let longestRetryDelay = Duration.seconds(900)

    /// The shortest first wait between two attempts: 10 ms.
    ///
    /// Our choice: a server that fails at once then gets at most 100 requests a second.
    public static let shortestRetryDelay = Duration.milliseconds(10)

    /// Creates an immediate transfer with the standard limits.
    public init(bundle: BundleIdentifier, direction: Direction, url: String) {
        self.bundle = bundle
        self.direction = direction
        self.url = url
    }

    /// The server in the form `host:port` or `host`, in lower case; the whole text if the address has no
    /// server.
    public var server: String { Self.plainServer(of: url) ?? anyServer }

    /// The server of an address of plain ASCII letters, without an upper-case one in its server; otherwise
    /// `nil`.
    ///
    /// Nearly all addresses are such, and the host asks for the server at each step of a transfer. Letters
    /// beyond ASCII can be parts of larger characters, which the general way compares as a whole.
    private static func plainServer(of url: String) -> String? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[bytes.index(after: colon)...].starts(with: "//".utf8)
        else { return nil }
        let begin = bytes.index(colon, offsetBy: 3)
        var (first, end) = (begin, begin)
        loop: while end < bytes.endIndex {
            switch bytes[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break loop
            case UInt8(ascii: "@"): first = bytes.index(after: end)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80..., ..<0x20: return nil
            default: break
            }
            end = bytes.index(after: end)
        }
        // An accent behind the end would be a part of its last character.
        if end < bytes.endIndex, let next = bytes[end...].dropFirst().first, next >= 0x80 { return nil }
        return String(url[first..<end])
    }

    private var anyServer: String {
        guard let begin = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[begin...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        return host.lowercased()
    }

    /// What the address says between the colon and the end of the server; `nil` if it gives no port.
    private var port: Substring? {
        let server = server
        // The colons of an IPv6 address are in brackets.
        let behind = server.lastIndex(of: "]").map { server[$0...] } ?? server[...]
        guard let colon = behind.lastIndex(of: ":") else { return nil }
        let port = behind[behind.index(after: colon)...]
        return port.isEmpty ? nil : port
    }

    /// The address without the name and the password of a user, for people and listings.
    public var publicURL: String { Self.withoutUser(url) }

    /// An address without the name and the password of a user.
    public static func withoutUser(_ url: String) -> String {
        guard let begin = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[begin...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return url[..<begin] + "***" + url[at...]
    }

    /// What is wrong with the request, and what to write instead; `nil` if nothing is.
    public var problem: (finding: String, remedy: String)? {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        if url.utf8.count > 8000 { return ("the address is longer than 8,000 bytes", "Give a shorter one") }
        if !["http", "https"].contains(scheme) || server.isEmpty || server == url {
            return (
                "the address is not one of http or https",
                "Give an address such as https://example.com/file"
            )
        }
        if !server.utf8.allSatisfy({ $0 < 0x80 }) {
            return (
                "the host of the address has letters beyond ASCII",
                "Write it in the form that begins with xn--, which 'idn2 NAME' and browsers show"
            )
        }
        if let port,
            !(1...65_535).contains(Int(port) ?? 0) || !port.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        {
            return ("the address has the port '\(port)'", "Give a port from 1 to 65535, or leave it out")
        }
        if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            return ("the address contains a space or a control character", "Write it as %20")
        }
        if let header = headers.first(where: { !Self.isHeader($0) }) {
            return ("'\(header)' is not a header line", "Write it as 'Name: value'")
        }
        let ours = ["range", "if-range", "content-length", "transfer-encoding"]
        if let header = headers.first(where: { ours.contains($0.prefix { $0 != ":" }.lowercased()) }) {
            return ("the host sets the header of '\(header)' itself", "Leave it out")
        }
        if direction == .download, method == "HEAD" {
            return ("a download needs an answer with a body, and HEAD has none", "Leave out the method")
        }
        // The message to the program has three more bytes for each line, and its limit is 64 KiB.
        if headers.reduce(0, { $0 + $1.utf8.count + 3 }) > 32_768 {
            return (
                "the header lines have more than 32 KiB, with 3 B more for each", "Send fewer or shorter ones"
            )
        }
        if let method,
            !method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) || method.isEmpty
                || method.utf8.count > 32
        {
            return ("'\(method)' is not a method", "Give one such as PUT or POST")
        }
        if direction == .upload, file == nil, handover == nil {
            return ("an upload needs a file", "Name the file to send")
        }
        if let file,
            file.utf8.count > 4095
                || file.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.count > 255 })
        {
            return (
                "the path of the file has more than 4,095 bytes, or a name in it more than 255",
                "Give a shorter one"
            )
        }
        if let file, file.utf8.contains(0) {
            return ("the path of the file contains a zero byte", "Leave it out: no file has such a name")
        }
        if let file, !file.hasPrefix("/") { return ("'\(file)' is not an absolute path", "Begin it with /") }
        if let file, direction == .download, !file.hasPrefix("/dev/shm/"),
            let place = ["/dev/", "/proc/", "/sys/"].first(where: file.hasPrefix)
        {
            return (
                "the file would be in \(place), where the kernel keeps no files",
                "Give the path of an ordinary file: the host replaces what is there, also /dev/stdout"
            )
        }
        if stallLimit <= .zero || resourceLimit <= .zero {
            return ("a limit of time is not positive", "Give a longer time")
        }
        if retryDelay < Self.shortestRetryDelay {
            return (
                "the wait between two attempts is shorter than 10 ms",
                "Give a longer one, so that a server that fails is not asked without a pause"
            )
        }
        return nil
    }

    private static func isHeader(_ line: String) -> Bool {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex else {
            return false
        }
        return line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !line[..<colon].contains(" ")
    }
}
