/// An address at which the host listens: `127.0.0.1:8765` or `[::1]:8765`.
public struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// The IP address, without brackets.
    public let host: String
    /// The port, 1 to 65535.
    public let port: Int

    /// Why a text is not an address.
    public struct Problem: Error, Equatable, Sendable {
        /// What is wrong.
        public let finding: String
        /// What to write.
        public let remedy = "Write an IP address and a port, such as 127.0.0.1:8765 or '[::1]:8765'"
    }

    /// Reads an address.
    ///
    /// Names are not addresses: a name can come to mean another machine's address.
    ///
    /// - Throws: ``Problem``.
    public init(_ text: String) throws(Problem) {
        guard let colon = text.lastIndex(of: ":") else { throw Problem(finding: "it has no port") }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), (1...65535).contains(port)
        else { throw Problem(finding: "'\(digits)' is not a port from 1 to 65535") }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard Self.isVersion6(host) else { throw Problem(finding: "'\(host)' is not an IPv6 address") }
        } else if !Self.isVersion4(host) {
            throw Problem(finding: "'\(host)' is not an IPv4 address, nor an IPv6 address in brackets")
        }
        self.host = String(host)
        self.port = port
    }

    /// Whether only programs on the same machine can connect.
    public var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func isVersion4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && Int(part).map { (0...255).contains($0) && "\($0)" == part } ?? false
            }
    }

    /// A rough check of the characters; the kernel makes the exact one.
    private static func isVersion6(_ text: Substring) -> Bool {
        text.contains(":")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
