/// The store's number of a transfer, such as `T17`.
public struct TransferID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The store's number, from 1.
    public let rawValue: Int64

    /// Makes an id from the store's number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Parses text such as `T17`; returns `nil` for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("T"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        rawValue = number
    }

    /// Decodes text such as `T17`.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let id = Self(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(text) is not a transfer"))
        }
        self = id
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    /// The form `T17`.
    public var description: String { "T\(rawValue)" }

    /// Orders by age: a smaller number was accepted earlier.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
