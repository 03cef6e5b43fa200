import ControlWire
import Digests
import FoundationEssentials

/// The payloads of pushes that come through UnifiedPush.
public enum UnifiedPushPayload {
    /// The greatest size of a message, in bytes: that of the specification.
    public static let greatestSize = 4096

    /// An object without the key by which the host itself announces endpoints.
    private struct OrdinaryObject: Decodable {
        private enum CodingKeys: CodingKey { case unifiedPush }

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            guard !object.contains(.unifiedPush) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .unifiedPush, in: object, debugDescription: "reserved")
            }
        }
    }

    private struct Wrapped: Encodable { let message: String }
    private struct Announced: Encodable {
        struct Registration: Encodable {
            let endpoint: String?
            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(endpoint, forKey: .endpoint)
            }
            private enum CodingKeys: CodingKey { case endpoint }
        }
        let unifiedPush: Registration
    }

    /// The payload for a message: itself if it is a JSON object in which no key is repeated, without the key
    /// `unifiedPush`, and else `{"message": BASE64}`.
    ///
    /// - Returns: The payload as JSON text; `nil` if the message is larger than the specification permits.
    public static func payload(of message: [UInt8]) -> String? {
        guard message.count <= greatestSize else { return nil }
        if let text = String(validating: message, as: UTF8.self),
            message.first != 0xEF, !message.contains(0),
            (try? JSONDecoder().decode(OrdinaryObject.self, from: Data(message))) != nil,
            RepeatedKey.first(in: Data(message)) == nil
        {
            return text
        }
        return text(of: Wrapped(message: Base64.encode(message)))
    }

    /// The greatest length of an id that is stored as it is, in bytes: that of webhooks.
    static let longestID = 128

    /// The key by which the host recognizes a message that is sent again.
    ///
    /// The specification has no limit for ids, so a longer one is stored as its digest.
    public static func key(token: String, id: String) -> String {
        id.utf8.count <= longestID
            ? "unifiedpush \(token) \(id)"
            : "unifiedpush-sha256 \(token) \(SHA256.hexadecimal(of: Array(id.utf8)))"
    }

    /// The payload that tells a bundle its endpoint, or that it has none any more.
    public static func announcement(of endpoint: String?) -> String {
        text(of: Announced(unifiedPush: .init(endpoint: endpoint))) ?? "{}"
    }

    private static func text(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}
