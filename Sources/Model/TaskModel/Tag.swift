/// A word by which clients group requests: 1 to 64 bytes of `[A-Za-z0-9._-]`, compared byte for byte.
public struct Tag: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The largest length of a tag in bytes: 64.
    ///
    /// Our choice: enough for a word, and a row of a listing stays readable.
    public static let longest = 64
    /// The largest number of tags of one request: 8.
    ///
    /// Our choice: tags are for people; programs keep their data in the payload.
    public static let mostPerRequest = 8

    /// The word as it was given.
    public let rawValue: String

    /// Checks a word.
    ///
    /// - Throws: ``TagError`` with what was found.
    public init(_ rawValue: String) throws(TagError) {
        let isValid = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard !rawValue.isEmpty, rawValue.utf8.count <= Self.longest, isValid else {
            throw TagError(text: rawValue)
        }
        self.rawValue = rawValue
    }

    /// Decodes a single string and checks it.
    public init(from decoder: any Decoder) throws {
        try self.init(String(from: decoder))
    }

    /// Encodes the word as a single string.
    public func encode(to encoder: any Encoder) throws {
        try rawValue.encode(to: encoder)
    }

    /// The word.
    public var description: String { rawValue }

    /// Compares byte by byte.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// A text that is not a valid tag.
public struct TagError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text, shortened.
    public let text: String

    init(text: String) { self.text = String(text.prefix(80)) }

    /// What is wrong, and what to write instead.
    public var description: String {
        "Not a valid tag: '\(text)'. Use 1 to \(Tag.longest) letters, digits, dots, hyphens and underscores"
    }
}
