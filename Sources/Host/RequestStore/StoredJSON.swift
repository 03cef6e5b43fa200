import FoundationEssentials
import TaskModel

/// Converts facts to and from JSON; keys are in alphabetical order, so that equal facts have equal text.
enum StoredJSON {
    /// Encodes a fact.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Decodes a fact.
    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Describes the error in a row and its position, without quoting the row's text.
    static func sentence(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context)) lacks '\(key.stringValue)'"
        case .typeMismatch(_, let context): return "\(place(context)) has a value of another type"
        case .valueNotFound(_, let context): return "\(place(context)) has no value"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: return "the text is not JSON"
        case .dataCorrupted(let context): return "\(place(context)) has an unknown value"
        @unknown default: return "the text has an unexpected form"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        if context.codingPath.isEmpty { return "the object" }
        return "'" + context.codingPath.map(\.stringValue).joined(separator: ".") + "'"
    }
}
