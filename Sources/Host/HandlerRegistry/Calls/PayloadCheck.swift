import StrictFiles
public import TaskModel

/// The checks of a request's payload: at the submission, and again when a launch's program is made.
extension Manifest {
    /// Checks that a payload has the keys of the manifest and only granted paths, and that it fits in a call.
    ///
    /// Keys that the manifest does not name are ignored. Callable from any thread; reads directories and
    /// links.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The request's, which the manifest permits.
    ///   - dataDirectory: The bundle's own directory, which needs no grant; `nil` if it has none yet.
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`, naming every key that is missing or of
    ///   another type, or the first path that is outside of every grant.
    public func checkPayload(
        _ payload: String?, for identifier: TaskIdentifier, dataDirectory: String?
    ) throws(SubmissionError) {
        if declaration(for: identifier)?.kind == .push { try SilentPush.check(payload, for: identifier) }
        _ = try encodeProgram(payload: payload, for: identifier, dataDirectory: dataDirectory)
    }

    /// Fills a payload into the call's program and encodes it for the runner.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The request's, which the manifest permits.
    ///   - dataDirectory: The bundle's own directory, which needs no grant; `nil` if it has none yet.
    /// - Returns: The program, at most 60,000 bytes (Documentation/RunnerProtocol.md); `nil` without a
    ///   `call:`.
    /// - Throws: A ``SubmissionError`` with the code `invalidRequest`.
    public func encodeProgram(
        payload: String?, for identifier: TaskIdentifier, dataDirectory: String?
    ) throws(SubmissionError) -> [UInt8]? {
        guard let task = declaration(for: identifier) else {
            throw SubmissionError(
                code: .notPermitted, subject: identifier.rawValue,
                finding: "the manifest of \(bundle) does not permit it",
                remedy: "Add the identifier to that manifest's tasks")
        }
        let decoded = try Payload(payload, subject: identifier.rawValue)
        try task.check(decoded, identifier)
        let grants = try PathGrants(sandbox, task: task, payload: decoded, dataDirectory: dataDirectory)
        guard let call = task.call else { return nil }
        var encoder = CallProgramEncoder(subject: identifier.rawValue, payload: decoded)
        let program = try encoder.encode(call)
        for path in encoder.paths { try grants.check(path) }
        return program
    }
}

extension TaskDeclaration {
    fileprivate func check(_ decoded: Payload, _ identifier: TaskIdentifier) throws(SubmissionError) {
        var findings: [String] = []
        for (key, type) in payload.sorted(by: { $0.key < $1.key }) {
            if let value = decoded.values[key] {
                if !value.fits(type) {
                    findings.append("'\(key)' is \(value.name) instead of type \(type.rawValue)")
                }
                if case .string(let text) = value, text.utf8.contains(0) {
                    findings.append("'\(key)' contains a NUL character")
                }
            } else {
                findings.append("'\(key)' (\(type.rawValue)) is missing")
            }
        }
        // A library's handler may read more than its manifest declares; a call reads nothing else.
        if call != nil {
            for key in decoded.values.keys.sorted() where payload[key] == nil {
                findings.append("the manifest declares no key '\(key.shortened)'")
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
