#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

import TaskModel

/// Conversion between messages and JSON, with keys in alphabetical order, so that equal values give equal
/// bytes.
public enum ControlJSON {
    /// Encodes a value on one line; for many values, use a ``JSONWriter``.
    public static func line(_ value: some Encodable) throws -> Data {
        Data(try JSONWriter().bytes(of: value))
    }

    /// Encodes a value for people and for `diff`: indented, with one key per line.
    public static func pretty(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return try encoder.encode(value)
    }

    /// Decodes a message.
    ///
    /// - Throws: `DecodingError`; ``sentence(of:)`` describes it.
    public static func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message {
        try JSONDecoder().decode(type, from: data)
    }

    /// Decodes a message from text.
    public static func decode<Message: Decodable>(_ type: Message.Type, from text: String) throws -> Message {
        try decode(type, from: Data(text.utf8))
    }

    /// Decodes a message and refuses keys that its type does not have.
    ///
    /// - Throws: ``UnknownKeyError``, or a `DecodingError`, which ``sentence(of:)`` describes.
    public static func decodeStrictly<Message: Decodable>(
        _ type: Message.Type, from data: Data
    ) throws -> Message {
        try decode(StrictMessage<Message>.self, from: data).message
    }

    /// Describes why a text could not be decoded, with the place but without the text itself.
    public static func sentence(of error: any Error) -> String {
        if let error = error as? IdentifierError { return error.description }
        guard let error = error as? DecodingError else { return "it is not JSON" }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context)) lacks the key '\(key.stringValue)'"
        case .typeMismatch(let type, let context): return "\(place(context)) should be \(word(for: type))"
        case .valueNotFound(let type, let context):
            return "\(place(context)) is null and should be \(word(for: type))"
        case .dataCorrupted(let context): return "\(place(context)): \(context.debugDescription)"
        @unknown default: return "it does not match the message"
        }
    }

    /// The word of JSON for what a Swift type is decoded from.
    private static func word(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "an array"
        default: "an object"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        if context.codingPath.isEmpty { return "the object" }
        return "'" + context.codingPath.map(\.stringValue).joined(separator: ".") + "'"
    }
}
