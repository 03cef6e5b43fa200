internal import CSodium

/// The functions of libsodium that keys and signatures need.
enum Sodium {
    /// The size of an Ed25519 signature, in bytes.
    static let signatureSize = Int(crypto_sign_BYTES)
    /// The size of an Ed25519 public key, in bytes.
    static let publicKeySize = Int(crypto_sign_PUBLICKEYBYTES)
    /// The size of an Ed25519 secret key with its public key, in bytes.
    static let secretKeySize = Int(crypto_sign_SECRETKEYBYTES)

    /// Chooses the fastest code for this processor, and opens the source of random numbers.
    ///
    /// libsodium permits this call from any thread and any number of times. The return value is -1 only if
    /// the kernel has no source of random numbers; then the process must not make keys.
    static func start() -> Bool { sodium_init() >= 0 }

    /// The BLAKE2b hash of bytes, of `size` bytes (16 to 64).
    static func hash(_ bytes: [UInt8], size: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: size)
        crypto_generichash(&digest, size, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }

    /// Whether a signature of bytes was made with the secret half of a public key.
    static func verifies(_ signature: [UInt8], of bytes: [UInt8], key: [UInt8]) -> Bool {
        signature.count == signatureSize && key.count == publicKeySize
            && crypto_sign_verify_detached(signature, bytes, UInt64(bytes.count), key) == 0
    }

    /// Signs bytes with a secret key of ``secretKeySize`` bytes.
    static func sign(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureSize)
        crypto_sign_detached(&signature, nil, bytes, UInt64(bytes.count), key)
        return signature
    }

    /// Makes a pair of keys from the kernel's random numbers.
    static func makeKeys() -> (public: [UInt8], secret: [UInt8]) {
        var publicKey = [UInt8](repeating: 0, count: publicKeySize)
        var secretKey = [UInt8](repeating: 0, count: secretKeySize)
        crypto_sign_keypair(&publicKey, &secretKey)
        return (publicKey, secretKey)
    }

    /// Returns bytes from the kernel's source of random numbers.
    static func randomBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }
}
