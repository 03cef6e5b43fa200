/// An optional value that is encoded as `null` when it is missing, so that every row of a listing has every
/// key.
///
/// A missing key is decoded as `nil`, because an older host does not know newer fields.
@propertyWrapper
public struct Explicit<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    /// The value; `nil` is encoded as `null`.
    public var wrappedValue: Value?

    /// Wraps a value.
    public init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Decodes a value or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Encodes the value or `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a missing key as `nil`.
    ///
    /// Synthesized decoding calls this method instead of the standard library's, which throws for a missing
    /// key.
    func decode<Value>(_ type: Explicit<Value>.Type, forKey key: Key) throws -> Explicit<Value> {
        try decodeIfPresent(type, forKey: key) ?? Explicit(wrappedValue: nil)
    }
}
