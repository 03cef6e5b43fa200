internal import CSodium

/// SHA-256, which names the copies of plugin libraries; libsodium computes it.
public enum SHA256 {
    /// The digest in lowercase hexadecimal.
    ///
    /// - Parameter bytes: The bytes to hash.
    /// - Returns: A string of 64 digits.
    public static func hexadecimal(of bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
