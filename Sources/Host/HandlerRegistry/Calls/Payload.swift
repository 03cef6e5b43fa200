import FoundationEssentials
public import TaskModel

/// A request's payload, decoded: a JSON object whose plain values have a type.
struct Payload {
    /// A value that a manifest can ask for.
    enum Value: Equatable {
        case string(String), integer(Int64), number(Double), boolean(Bool)
        /// A list, an object, null, or a number beyond 64 bits.
        case other

        /// What it is called in messages.
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

        /// The value inside a text.
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
    let values: [String: Value]

    /// Decodes a payload; none is an empty object.
    ///
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`.
    init(_ json: String?, subject: String) throws(SubmissionError) {
        guard let json else {
            values = [:]
            return
        }
        guard json.utf8.count <= 49_152 else {
            throw SubmissionError(
                code: .invalidRequest, subject: subject,
                finding: "the payload has \(json.utf8.count) bytes of at most 49152",
                remedy: "Put the bulk into a file and submit its path")
        }
        do {
            values = try JSONDecoder().decode([String: Decoded].self, from: Data(json.utf8)).mapValues(
                \.value)
        } catch {
            throw SubmissionError(
                code: .invalidRequest, subject: subject, finding: "the payload is no JSON object",
                remedy: "Give an object: '{\"key\": \"value\"}'")
        }
    }

    private struct Decoded: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // The order decides: true is no number, and 1 is an integer before it is a number.
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

extension TaskDeclaration {
    /// Checks that a payload carries what the manifest asks for, and that a call's program can be made with it.
    ///
    /// Keys that the manifest does not name are left alone. Callable from any thread.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The request's, for the message.
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`, naming every key that is missing or of another
    ///   type.
    public func checkPayload(_ payload: String?, for identifier: TaskIdentifier) throws(SubmissionError) {
        _ = try encodeProgram(payload: payload, for: identifier)
    }

    /// Fills a payload into the call's program and encodes it for the runner.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The request's, for the message.
    /// - Returns: The program, at most 60,000 bytes (Documentation/RunnerProtocol.md); `nil` without a `call:`.
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`.
    public func encodeProgram(payload: String?, for identifier: TaskIdentifier) throws(SubmissionError)
        -> [UInt8]?
    {
        let decoded = try Payload(payload, subject: identifier.rawValue)
        try check(decoded, identifier)
        guard let call else { return nil }
        var encoder = CallProgramEncoder(subject: identifier.rawValue, payload: decoded)
        return try encoder.encode(call)
    }

    private func check(_ decoded: Payload, _ identifier: TaskIdentifier) throws(SubmissionError) {
        var findings: [String] = []
        for (key, type) in payload.sorted(by: { $0.key < $1.key }) {
            if let value = decoded.values[key] {
                if !value.fits(type) {
                    findings.append("'\(key)' is \(value.name), not of type \(type.rawValue)")
                }
                if case .string(let text) = value, text.utf8.contains(0) {
                    findings.append("'\(key)' has a NUL character")
                }
            } else {
                findings.append("'\(key)' (\(type.rawValue)) is missing")
            }
        }
        guard !findings.isEmpty else { return }
        let example = payload.keys.sorted().map { "\"\($0)\": ..." }.joined(separator: ", ")
        throw SubmissionError(
            code: .invalidRequest, subject: identifier.rawValue,
            finding: "the payload does not fit the manifest: \(findings.joined(separator: "; "))",
            remedy: "Submit it with --payload '{\(example)}'")
    }
}
