import ControlWire
import FoundationEssentials

/// The body of a push from the network: a payload in Apple's form.
public enum PushBody {
    /// The greatest size, in bytes: Apple's, 4 KiB.
    public static let greatestSize = 4096

    private struct Payload: Decodable {
        let isSilent: Bool
        /// Whether it has the key by which the host itself announces endpoints.
        let isAnnouncement: Bool

        private enum CodingKeys: CodingKey { case aps, unifiedPush }

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            isAnnouncement = object.contains(.unifiedPush)
            isSilent = (try? object.decode(Notification.self, forKey: .aps))?.contentAvailable == 1
        }
    }

    private struct Notification: Decodable {
        let contentAvailable: Int?

        private enum CodingKeys: String, CodingKey { case contentAvailable = "content-available" }
    }

    /// Checks that a body is the payload of a silent push.
    ///
    /// Unlike a push from the same machine, it must have an `aps` object (Documentation/Decisions/0010):
    /// senders outside know Apple's format.
    ///
    /// - Parameter bytes: The body.
    /// - Returns: The payload as text.
    /// - Throws: ``PushRefusal`` with the code `bodyTooLarge`, `malformedBody` or `notSilent`.
    public static func payload(of bytes: [UInt8]) throws(PushRefusal) -> String {
        guard bytes.count <= greatestSize else { throw tooLarge }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PushRefusal(.malformedBody, "the body is not UTF-8", remedy: "Send a JSON object in UTF-8")
        }
        // The decoder would also take UTF-16 and a byte order mark, which readers of the payload do not
        // expect. In UTF-8, JSON begins with its bracket, and has no NUL.
        guard bytes.first != 0xEF, !bytes.contains(0),
            let payload = try? JSONDecoder().decode(Payload.self, from: Data(bytes))
        else {
            throw PushRefusal(
                .malformedBody, "the body is not a JSON object", remedy: "Send a JSON object in UTF-8")
        }
        // The decoder takes one of the values, and the handler perhaps another one.
        if let twice = RepeatedKey.first(in: Data(bytes)) {
            throw PushRefusal(
                .malformedBody,
                "the key '\(Printable.text(twice, maximumLength: 64))' is given more than once",
                remedy: "Give it once")
        }
        guard !payload.isAnnouncement else {
            throw PushRefusal(
                .malformedBody,
                "the payload has the key unifiedPush, by which only the host announces endpoints",
                remedy: "Choose another key")
        }
        guard payload.isSilent else {
            throw PushRefusal(
                .notSilent,
                "the payload has no \"aps\" with \"content-available\": 1, so it is not a silent push",
                remedy: "Add \"aps\": {\"content-available\": 1}; the host delivers only silent pushes")
        }
        return text
    }

    /// The refusal of a body that is too large.
    public static let tooLarge = PushRefusal(
        .bodyTooLarge, "the body has more than \(greatestSize) bytes",
        remedy: "Send less, and let the task fetch the rest")
}
