/// What the newest request of a transfer cost, as libcurl measured it.
///
/// The program of the transfers sends it as a text, and the store keeps that text.
public struct TransferMetrics: Equatable, Sendable {
    /// When the request began.
    public var begin: WallTime
    /// The time from the beginning until the server's address was known.
    public var nameLookup: Duration
    /// The time until the connection was there.
    public var connect: Duration
    /// The time until TLS was agreed on; zero without TLS.
    public var secureConnect: Duration
    /// The time until the request could be sent.
    public var request: Duration
    /// The time until the first byte of the response.
    public var firstByte: Duration
    /// The time until the end.
    public var total: Duration
    /// How many redirects came before the request.
    public var redirects: Int
    /// The version of HTTP, times 10: 10, 11, 20 or 30; 0 if there was no response.
    public var version: Int
    /// Whether the connection was that of an earlier request.
    public var isReused: Bool
    /// The bytes of the response's header lines.
    public var responseHeaderBytes: Int64
    /// The bytes of the request's header lines.
    public var requestHeaderBytes: Int64
    /// The server's address; empty if there was no connection.
    public var remoteAddress: String
    /// The server's port; 0 if there was no connection.
    public var remotePort: Int
    /// The address of this machine; empty if there was no connection.
    public var localAddress: String
    /// The port of this machine; 0 if there was no connection.
    public var localPort: Int

    /// Reads the words of a text: the begin in ms since 1970, six times in µs, five numbers, two addresses
    /// (`-` if there is none), each with its port; `nil` if the text is not valid.
    public init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard words.count == 16 else { return nil }
        var numbers: [Int64] = []
        for word in words[..<12] + [words[13], words[15]] {
            guard let number = Int64(word), (0...(1 << 50)).contains(number) else { return nil }
            numbers.append(number)
        }
        begin = WallTime(milliseconds: numbers[0])
        nameLookup = .microseconds(numbers[1])
        connect = .microseconds(numbers[2])
        secureConnect = .microseconds(numbers[3])
        request = .microseconds(numbers[4])
        firstByte = .microseconds(numbers[5])
        total = .microseconds(numbers[6])
        redirects = Int(numbers[7])
        version = Int(numbers[8])
        isReused = numbers[9] != 0
        (responseHeaderBytes, requestHeaderBytes) = (numbers[10], numbers[11])
        func address(_ word: String) -> String? {
            guard word.utf8.count <= 64 else { return nil }
            return word == "-" ? "" : word
        }
        guard let remote = address(words[12]), let local = address(words[14]) else { return nil }
        (remoteAddress, remotePort) = (remote, Int(numbers[12]))
        (localAddress, localPort) = (local, Int(numbers[13]))
        self.text = text
    }

    /// The text that ``init(_:)`` reads.
    public let text: String
}
