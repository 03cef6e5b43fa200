import Digests

/// A key that makes signatures, in minisign's format for keys without a password.
///
/// The permissions of its file are its only protection. minisign can use the file, too.
public struct SecretKey: Sendable {
    private static let header: [UInt8] =
        PublicKey.algorithm + [0, 0] + Array("B2".utf8)  // no key derivation; the checksum is BLAKE2b
    /// The salt and the limits of a key derivation: all zero, because there is no password.
    private static let derivationSize = 32 + 8 + 8
    private static let checksumSize = 32

    /// The key that verifies the signatures of this one.
    public let publicKey: PublicKey
    private let bytes: [UInt8]

    /// Makes a new key from the kernel's random numbers.
    ///
    /// - Throws: ``SignatureError`` if the kernel has no source of random numbers.
    public init() throws(SignatureError) {
        guard Sodium.start() else {
            throw SignatureError(
                finding: "the kernel offers no random numbers", remedy: "Make the key on another machine")
        }
        let keys = Sodium.makeKeys()
        publicKey = PublicKey(number: Sodium.randomBytes(PublicKey.numberSize), bytes: keys.public)
        bytes = keys.secret
    }

    /// Reads the contents of a key file.
    ///
    /// - Throws: ``SignatureError`` if the file has another format, is damaged, or needs a password.
    public init(file contents: String) throws(SignatureError) {
        let lines = contents.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let size =
            Self.header.count + Self.derivationSize + PublicKey.numberSize + Sodium.secretKeySize
            + Self.checksumSize
        guard lines.count >= 2, let all = Base64.decode(lines[1]), all.count == size,
            all.starts(with: PublicKey.algorithm)
        else {
            throw SignatureError(
                finding: "not a secret key of minisign", remedy: "Make one: bgtask sign --new-key FILE")
        }
        guard all.starts(with: Self.header) else {
            throw SignatureError(
                finding: "this key needs a password, which bgtask can't ask for",
                remedy: "Sign with minisign: minisign -S -s KEY -m FILE")
        }
        let secret = all.dropFirst(Self.header.count + Self.derivationSize)
        let number = Array(secret.prefix(PublicKey.numberSize))
        let bytes = Array(secret.dropFirst(PublicKey.numberSize).prefix(Sodium.secretKeySize))
        guard Array(secret.suffix(Self.checksumSize)) == Self.checksum(number: number, bytes: bytes) else {
            throw SignatureError(
                finding: "this secret key is damaged: its checksum does not match",
                remedy: "Restore the file from a copy")
        }
        // The second half of an Ed25519 secret key is its public key.
        publicKey = PublicKey(number: number, bytes: Array(bytes.suffix(Sodium.publicKeySize)))
        self.bytes = bytes
    }

    /// The contents of the key file.
    public var file: String {
        let secret = publicKey.number + bytes
        let all =
            Self.header + [UInt8](repeating: 0, count: Self.derivationSize) + secret
            + Self.checksum(number: publicKey.number, bytes: bytes)
        return "untrusted comment: bgtask secret key \(publicKey.name)\n\(Base64.encode(all))\n"
    }

    private static func checksum(number: [UInt8], bytes: [UInt8]) -> [UInt8] {
        Sodium.hash(PublicKey.algorithm + number + bytes, size: checksumSize)
    }

    /// Signs the contents of a file.
    ///
    /// - Parameters:
    ///   - contents: The bytes of the file.
    ///   - comment: One line that the signature protects, such as the name of the file. Each run
    ///     of line breaks becomes a space.
    /// - Returns: The contents of the signature file.
    public func sign(_ contents: [UInt8], comment: String) -> String {
        let comment = comment.split(whereSeparator: \.isNewline).joined(separator: " ")
        let signature = Sodium.sign(Signature.digest(contents), key: bytes)
        let seal = Sodium.sign(signature + Array(comment.utf8), key: bytes)
        return """
            untrusted comment: signature by bgtask secret key \(publicKey.name)
            \(Base64.encode(Signature.hashedAlgorithm + publicKey.number + signature))
            \(Signature.commentPrefix)\(comment)
            \(Base64.encode(seal))

            """
    }
}
