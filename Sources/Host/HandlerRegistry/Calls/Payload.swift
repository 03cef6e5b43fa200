import FoundationEssentials
import TaskModel

/// The decoded payload of a request: a JSON object with typed values.
struct Payload {
    /// The value of one key.
    enum Value: Equatable {
        case string(String), integer(Int64), number(Double), boolean(Bool)
        /// A list, an object or null.
        case other

        /// The type of the value, for messages.
        var name: String {
            switch self {
            case .string: "a string"
            case .integer: "an integer"
            case .number: "a number"
            case .boolean: "a boolean"
            case .other: "neither text, number nor boolean"
            }
        }

        func fits(_ type: PayloadType) -> Bool {
            switch (type, self) {
            case (.string, .string), (.integer, .integer), (.number, .integer), (.number, .number),
                (.boolean, .boolean):
                true
            case (.string, _), (.integer, _), (.number, _), (.boolean, _): false
            }
        }

        /// The value as it is inserted into a text.
        var text: String {
            switch self {
            case .string(let text): text
            case .integer(let number): String(number)
            case .number(let number): String(number)
            case .boolean(let flag): String(flag)
            case .other: ""
            }
        }
    }

    /// The values by key.
    private(set) var values: [String: Value]
    /// The identifier of the request, for messages.
    let subject: String

    /// Decodes a payload of at most 49,152 bytes; `nil` counts as an empty object.
    ///
    /// - Throws: ``SubmissionError`` with the code `invalidRequest` if the payload is too long or is not an
    ///   object.
    init(_ json: String?, subject: String) throws(SubmissionError) {
        self.subject = subject
        guard let json else {
            values = [:]
            return
        }
        guard json.utf8.count <= 49_152 else {
            throw SubmissionError(
                code: .invalidRequest, subject: subject,
                finding: "the payload has \(json.utf8.count) bytes; the limit is 49152",
                remedy: "Put the data in a file, and submit the file's path")
        }
        do {
            values = try JSONDecoder().decode([String: Decoded].self, from: Data(json.utf8)).mapValues(
                \.value)
        } catch {
            throw SubmissionError(
                code: .invalidRequest, subject: subject, finding: "the payload is not a JSON object",
                remedy: "Give an object: '{\"key\": \"value\"}'")
        }
    }

    /// Adds the values of keys that the payload does not contain.
    mutating func add(_ defaults: [String: PayloadDefault]) {
        for (key, value) in defaults where values[key] == nil {
            values[key] =
                switch value {
                case .string(let text): .string(text)
                case .integer(let number): .integer(number)
                case .number(let number): .number(number)
                case .boolean(let flag): .boolean(flag)
                }
        }
    }

    /// Replaces each `${payload.KEY}` in a text with its value.
    ///
    /// - Throws: ``SubmissionError`` with the code `invalidRequest` if the payload does not contain a key.
    func fill(_ text: String) throws(SubmissionError) -> String {
        var filled = ""
        for part in PayloadText.parts(of: text) ?? [] {
            switch part {
            case .plain(let plain): filled += plain
            case .key(let key):
                guard let value = values[String(key)] else {
                    throw SubmissionError(
                        code: .invalidRequest, subject: subject, finding: "the payload has no '\(key)'",
                        remedy: "Submit it with that key")
                }
                filled += value.text
            }
        }
        return filled
    }

    private struct Decoded: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // The order matters: a boolean must not become a number, nor an integer a floating-point
            // number.
            if let flag = try? container.decode(Bool.self) {
                value = .boolean(flag)
            } else if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .number(number)
            } else if let text = try? container.decode(String.self) {
                value = .string(text)
            } else {
                value = .other
            }
        }
    }
}
