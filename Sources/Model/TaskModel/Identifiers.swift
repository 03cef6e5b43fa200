/// The reverse-DNS name of a task: 1 to 128 bytes of `[A-Za-z0-9._-]`, compared byte for byte.
public struct TaskIdentifier: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The name as it was given.
    public let rawValue: String

    /// Checks the name against the grammar that manifests, requests and commands share.
    ///
    /// - Parameter rawValue: The name, without a wildcard.
    /// - Throws: ``IdentifierError`` with what was found. The name is never corrected.
    public init(_ rawValue: String) throws(IdentifierError) {
        try IdentifierGrammar.check(rawValue)
        self.rawValue = rawValue
    }

    /// Decodes a single string and checks it.
    public init(from decoder: any Decoder) throws {
        try self.init(String(from: decoder))
    }

    /// Encodes the name as a single string.
    public func encode(to encoder: any Encoder) throws {
        try rawValue.encode(to: encoder)
    }

    /// The name.
    public var description: String { rawValue }

    /// Compares byte by byte.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// The reverse-DNS id of a bundle (`com.example.photos`), with the same grammar as a task identifier.
public struct BundleIdentifier: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The id as it was given.
    public let rawValue: String

    /// Checks the id.
    ///
    /// - Throws: ``IdentifierError`` with what was found.
    public init(_ rawValue: String) throws(IdentifierError) {
        try IdentifierGrammar.check(rawValue)
        self.rawValue = rawValue
    }

    /// Decodes a single string and checks it.
    public init(from decoder: any Decoder) throws {
        try self.init(String(from: decoder))
    }

    /// Encodes the id as a single string.
    public func encode(to encoder: any Encoder) throws {
        try rawValue.encode(to: encoder)
    }

    /// The id.
    public var description: String { rawValue }

    /// Compares byte by byte.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

extension BundleIdentifier: CodingKeyRepresentable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The id as a coding key, so that a dictionary with bundles as keys is encoded as a mapping.
    public var codingKey: any CodingKey { Key(stringValue: rawValue) }

    /// Reads a coding key; `nil` if it is not a valid id.
    public init?<Other: CodingKey>(codingKey: Other) {
        try? self.init(codingKey.stringValue)
    }
}

/// What a manifest permits: one identifier, or a prefix with one or more further labels
/// (`com.example.export.*`).
public struct IdentifierPattern: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The identifier, or the prefix before `.*`.
    public let base: TaskIdentifier
    /// True if the pattern ends in `.*`.
    public let isWildcard: Bool

    /// Parses an identifier that may end in `.*`.
    ///
    /// - Throws: ``IdentifierError`` with what was found.
    public init(_ text: String) throws(IdentifierError) {
        isWildcard = text.hasSuffix(".*")
        base = try TaskIdentifier(isWildcard ? String(text.dropLast(2)) : text)
    }

    /// Makes the pattern that matches only one identifier.
    public init(exactly identifier: TaskIdentifier) {
        base = identifier
        isWildcard = false
    }

    /// Decodes a single string and checks it.
    public init(from decoder: any Decoder) throws {
        try self.init(String(from: decoder))
    }

    /// Encodes the pattern as a single string.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }

    /// Whether the identifier equals ``base`` or, for a wildcard, has at least one more label than ``base``.
    public func matches(_ identifier: TaskIdentifier) -> Bool {
        guard isWildcard else { return identifier == base }
        let (text, prefix) = (identifier.rawValue.utf8, base.rawValue.utf8)
        guard text.count > prefix.count + 1, text.starts(with: prefix) else { return false }
        return text.dropFirst(prefix.count).first == UInt8(ascii: ".")
    }

    /// The pattern as it is written in a manifest.
    public var description: String { isWildcard ? base.rawValue + ".*" : base.rawValue }
}

/// The reason why a text is not an identifier.
public struct IdentifierError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    ///
    /// Of a space, a control character or a character outside ASCII, it shows the first byte.
    public let finding: String

    /// The finding, followed by the rule.
    public var description: String {
        "\(finding); use 1 to \(IdentifierGrammar.maximumLength) characters of A-Z a-z 0-9 . _ -"
    }
}

enum IdentifierGrammar {
    static let maximumLength = 128

    static func check(_ text: String) throws(IdentifierError) {
        let bytes = text.utf8
        if bytes.isEmpty { throw IdentifierError(finding: "the identifier is empty") }
        if bytes.count > maximumLength {
            throw IdentifierError(
                finding: "the identifier has \(bytes.count) bytes; the limit is \(maximumLength)")
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                continue
            case 0x21...0x7E:
                throw IdentifierError(
                    finding: "the identifier contains the character '\(Unicode.Scalar(byte))'")
            default:
                throw IdentifierError(
                    finding: "the identifier contains the byte 0x\(String(byte, radix: 16, uppercase: true))")
            }
        }
    }
}
