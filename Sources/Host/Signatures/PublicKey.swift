import Digests

/// A key that verifies signatures: an Ed25519 public key in the format of minisign.
public struct PublicKey: Hashable, Sendable {
    /// The algorithm's name in keys: Ed25519.
    static let algorithm: [UInt8] = Array("Ed".utf8)
    /// The size of the number by which a signature names its key, in bytes.
    static let numberSize = 8

    /// A random number that each signature of the key repeats.
    let number: [UInt8]
    let bytes: [UInt8]

    init(number: [UInt8], bytes: [UInt8]) {
        self.number = number
        self.bytes = bytes
    }

    /// Reads a public key: the second line of a `.pub` file of minisign, which begins with `RW`.
    ///
    /// - Throws: ``SignatureError`` if the text is not such a key.
    public init(_ text: String) throws(SignatureError) {
        let size = Self.algorithm.count + Self.numberSize + Sodium.publicKeySize
        guard let all = Base64.decode(text), all.count == size, all.starts(with: Self.algorithm)
        else {
            throw SignatureError(
                finding: "not a public key: '\(text.prefix(80))'",
                remedy:
                    "Use the line that begins with RW from the .pub file that 'bgtask sign --new-key' wrote")
        }
        number = Array(all[2..<10])
        bytes = Array(all[10...])
    }

    /// The key as text, as ``init(_:)`` reads it: 56 characters of base64.
    public var text: String { Base64.encode(Self.algorithm + number + bytes) }

    /// The key's number as minisign shows it: 16 hexadecimal digits.
    public var name: String { Self.name(of: number) }

    /// Formats a key's number: its bytes are a little-endian integer.
    static func name(of number: [UInt8]) -> String {
        number.reversed().map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
