internal import CSodium
import Digests

/// A secret that a sender of pushes shares with the host, in the form of Standard Webhooks.
///
/// Its text is `whsec_` and 24 to 64 bytes in base64. It never appears in a log, a listing or an error.
public struct PushSecret: Sendable, Equatable {
    /// The bytes of the key.
    let key: [UInt8]

    /// The text before the base64.
    static let prefix = "whsec_"
    /// The sizes that Standard Webhooks permits, in bytes.
    static let sizes = 24...64

    /// Reads a secret; `nil` if the text has another form.
    public init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix),
            let key = Base64.decode(String(text.dropFirst(Self.prefix.count))), Self.sizes.contains(key.count)
        else { return nil }
        self.key = key
    }

    private init(key: [UInt8]) { self.key = key }

    /// Makes a secret of 32 bytes from the kernel's random numbers.
    public static func random() -> PushSecret {
        precondition(sodium_init() >= 0, "the kernel has no source of random numbers")
        var key = [UInt8](repeating: 0, count: 32)
        randombytes_buf(&key, key.count)
        return PushSecret(key: key)
    }

    /// The text for the sender, such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
    public var text: String { Self.prefix + Base64.encode(key) }

    /// The signature of these bytes: HMAC with SHA-256, 32 bytes.
    func signature(of bytes: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var signature = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
        crypto_auth_hmacsha256_final(&state, &signature)
        return signature
    }

    /// Whether a signature of these bytes was made with this secret; takes the same time for every wrong one.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        let right = self.signature(of: bytes)
        return signature.count == right.count && sodium_memcmp(signature, right, right.count) == 0
    }
}
