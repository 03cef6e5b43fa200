import Digests

/// The signature of a file, in the format of minisign.
public struct Signature: Sendable {
    /// The suffix of the signature's file, after the whole name of the signed file.
    public static let suffix = ".minisig"
    /// The largest signature file that is read, in bytes; minisign limits the comment to 8 KiB.
    public static let maximumSize = 16 * 1024

    /// The algorithm that signs a BLAKE2b hash of the file, which minisign uses by default.
    static let hashedAlgorithm: [UInt8] = Array("ED".utf8)
    static let commentPrefix = "trusted comment: "

    private let isHashed: Bool
    private let number: [UInt8]
    private let bytes: [UInt8]
    private let comment: String
    /// The signature of the signature and the comment.
    private let seal: [UInt8]

    /// Reads the contents of a signature file.
    ///
    /// - Throws: ``SignatureError`` if the file has another format.
    public init(file contents: [UInt8]) throws(SignatureError) {
        let lines = String(decoding: contents, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let size = 2 + PublicKey.numberSize + Sodium.signatureSize
        guard lines.count >= 4, lines[2].hasPrefix(Self.commentPrefix),
            let all = Base64.decode(lines[1]), all.count == size,
            let seal = Base64.decode(lines[3])
        else {
            throw SignatureError(
                finding: "is not a signature of minisign", remedy: "Make it again: bgtask sign FILE --key KEY"
            )
        }
        let algorithm = Array(all.prefix(2))
        guard algorithm == Self.hashedAlgorithm || algorithm == PublicKey.algorithm else {
            throw SignatureError(
                finding: "uses an algorithm other than Ed25519",
                remedy: "Make it again: bgtask sign FILE --key KEY")
        }
        isHashed = algorithm == Self.hashedAlgorithm
        number = Array(all[2..<10])
        bytes = Array(all[10...])
        comment = String(lines[2].dropFirst(Self.commentPrefix.count))
        self.seal = seal
    }

    /// The number of the key that made the signature, as ``PublicKey/name`` shows it.
    public var keyName: String { PublicKey.name(of: number) }

    /// Whether this is a signature of the file's contents by one of the keys.
    ///
    /// - Throws: ``SignatureError`` if the key is not among `keys`, or if the contents or the signature were
    ///   changed. The finding continues a sentence that names the signature file.
    public func verify(_ contents: [UInt8], keys: [PublicKey]) throws(SignatureError) {
        guard let key = keys.first(where: { $0.number == number }) else {
            throw SignatureError(
                finding: "was made with the key \(keyName), which is not in trust.keys",
                remedy: "Sign the file with one of these keys: \(keys.map(\.name).joined(separator: ", "))")
        }
        let signed = isHashed ? Self.digest(contents) : contents
        guard Sodium.verifies(bytes, of: signed, key: key.bytes),
            Sodium.verifies(seal, of: bytes + Array(comment.utf8), key: key.bytes)
        else {
            throw SignatureError(
                finding: "does not match the file: one of them was changed after the file was signed",
                remedy: "Install both again from their source. If you made the change, sign the file again")
        }
    }

    /// The hash of a file that is signed in place of its contents.
    static func digest(_ contents: [UInt8]) -> [UInt8] { Sodium.hash(contents, size: 64) }
}
