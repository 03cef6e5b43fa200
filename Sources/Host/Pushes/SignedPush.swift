import Digests
public import TaskModel

/// The parts of a push from the network that its sender signs, as Standard Webhooks defines them.
public struct SignedPush: Sendable, Equatable {
    /// The value of `webhook-id`: the same for each attempt to send the same push.
    public let id: String
    /// The text of `webhook-timestamp`, in seconds since 1970.
    private let timestamp: String
    /// When the sender signed.
    private let signedAt: WallTime
    /// The signatures of the version `v1`.
    private let signatures: [[UInt8]]

    /// How far the time of a signature may be away from the host's clock: 5 min.
    ///
    /// The libraries of Standard Webhooks use this number.
    public static let window = Duration.seconds(300)
    /// The greatest length of an id, in bytes.
    static let longestID = 128
    /// The most signatures that one push may have: enough for senders that change their secret.
    static let mostSignatures = 8

    /// Reads the headers.
    ///
    /// - Parameter header: Returns all values of a header, by its name in small letters.
    /// - Throws: ``PushRefusal`` with the code `malformedHeader`.
    public init(header: (String) -> [String]) throws(PushRefusal) {
        id = try Self.only("webhook-id", header)
        guard (1...Self.longestID).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Self.malformed(
                "webhook-id has another form",
                "Send 1 to \(Self.longestID) printable characters without spaces")
        }
        timestamp = try Self.only("webhook-timestamp", header)
        guard (1...12).contains(timestamp.utf8.count),
            timestamp.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let seconds = Int64(timestamp)
        else {
            throw Self.malformed(
                "webhook-timestamp is not a time", "Send whole seconds since 1970, such as 1735689600")
        }
        signedAt = WallTime(sinceEpoch: .seconds(seconds))
        let texts = try Self.only("webhook-signature", header).split(separator: " ")
        guard texts.count <= Self.mostSignatures else {
            throw Self.malformed(
                "webhook-signature has \(texts.count) signatures", "Send at most \(Self.mostSignatures)")
        }
        signatures = texts.compactMap { text in
            text.hasPrefix("v1,") ? Base64.decode(String(text.dropFirst(3))) : nil
        }
        guard !signatures.isEmpty else {
            throw Self.malformed(
                "webhook-signature has no signature of the version v1", "Send v1, and base64")
        }
    }

    /// Checks the time and the signatures.
    ///
    /// The answer for a bundle without a secret is the same as for a wrong signature, and takes as long.
    ///
    /// - Parameters:
    ///   - body: The body of the request.
    ///   - secrets: The secrets of the bundle; may be empty.
    ///   - now: The host's time.
    /// - Throws: ``PushRefusal`` with the code `outsideWindow` or `notSigned`.
    public func check(body: [UInt8], secrets: [PushSecret], at now: WallTime) throws(PushRefusal) {
        let distance = now < signedAt ? signedAt - now : now - signedAt
        guard distance <= Self.window else {
            throw PushRefusal(
                .outsideWindow, "webhook-timestamp is more than 5 min away from the clock of the host",
                remedy: "Sign each attempt again, and set the clock")
        }
        let signed = Array("\(id).\(timestamp).".utf8) + body
        var isSigned = false
        for secret in secrets.isEmpty ? [Self.unknown] : secrets {
            for signature in signatures where secret.verifies(signature, of: signed) { isSigned = true }
        }
        guard isSigned, !secrets.isEmpty else {
            throw PushRefusal(
                .notSigned, "no signature was made with a secret of this bundle",
                remedy: "Sign ID.TIMESTAMP.BODY by HMAC with SHA-256 and the secret of bgtask push-secret")
        }
    }

    /// A secret that no sender knows.
    private static let unknown = PushSecret.random()

    private static func only(_ name: String, _ header: (String) -> [String]) throws(PushRefusal) -> String {
        let values = header(name)
        guard let value = values.first else {
            throw malformed("the header \(name) is missing", "Send the headers of Standard Webhooks")
        }
        guard values.count == 1 else {
            throw malformed("the header \(name) is given \(values.count) times", "Send it once")
        }
        return value
    }

    private static func malformed(_ finding: String, _ remedy: String) -> PushRefusal {
        PushRefusal(.malformedHeader, finding, remedy: remedy)
    }
}
