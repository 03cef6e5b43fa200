import FoundationEssentials
import TaskModel

/// How facts become JSON in the database: keys in alphabetical order, so that equal facts are equal rows.
enum StoredJSON {
    /// A fact as text.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// A fact from text.
    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// What was wrong with a row and where, without its text.
    static func sentence(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context)) lacks '\(key.stringValue)'"
        case .typeMismatch(_, let context): return "\(place(context)) has a value of another type"
        case .valueNotFound(_, let context): return "\(place(context)) has no value"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: return "the text is not JSON"
        case .dataCorrupted(let context): return "\(place(context)) has a value that is not known here"
        @unknown default: return "the text does not fit"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        if context.codingPath.isEmpty { return "the object" }
        return "'" + context.codingPath.map(\.stringValue).joined(separator: ".") + "'"
    }
}
