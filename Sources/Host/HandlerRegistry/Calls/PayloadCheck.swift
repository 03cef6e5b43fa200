import StrictFiles
public import TaskModel

/// Checks of a request's payload: when the request is submitted, and before each launch.
extension Manifest {
    /// Checks that a payload fits the manifest: its keys, its paths, and the size of the resulting call.
    ///
    /// For a task with `call:` or `command:`, keys that the manifest does not declare are errors, unless the
    /// command reads the payload; for other tasks, they are ignored. Callable from any thread. Reads
    /// directories and links to resolve paths.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The identifier of the request.
    ///   - dataDirectory: The bundle's own directory, which needs no grant; `nil` if it does not exist yet.
    /// - Throws: ``SubmissionError``: `notPermitted` if the manifest does not permit the identifier, and
    ///   otherwise `invalidRequest`. The error names all missing and wrong keys, or the first path outside
    ///   all grants.
    public func checkPayload(
        _ payload: String?, for identifier: TaskIdentifier, dataDirectory: String?
    ) throws(SubmissionError) {
        if declaration(for: identifier)?.kind == .push { try SilentPush.check(payload, for: identifier) }
        _ = try encodeProgram(payload: payload, for: identifier, dataDirectory: dataDirectory)
    }

    /// Encodes the task's call or command for the runner, with the values of the payload.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The identifier of the request.
    ///   - dataDirectory: The bundle's own directory, which needs no grant; `nil` if it does not exist yet.
    /// - Returns: The program, at most 60,000 bytes (Documentation/RunnerProtocol.md); `nil` if the handler
    ///   of the library runs.
    /// - Throws: ``SubmissionError``, as `checkPayload` does.
    public func encodeProgram(
        payload: String?, for identifier: TaskIdentifier, dataDirectory: String?
    ) throws(SubmissionError) -> LaunchProgram? {
        try resolve(payload: payload, for: identifier, dataDirectory: dataDirectory).program
    }

    /// Encodes the task's call, as `encodeProgram` does, and resolves the manifest's grants.
    ///
    /// - Parameters:
    ///   - payload: JSON text; `nil` if the request has none.
    ///   - identifier: The identifier of the request.
    ///   - dataDirectory: The bundle's own directory, which needs no grant; `nil` if it does not exist yet.
    /// - Returns: The program, and the files that the launch may use.
    /// - Throws: ``SubmissionError``, as `checkPayload` does.
    public func resolve(
        payload: String?, for identifier: TaskIdentifier, dataDirectory: String?
    ) throws(SubmissionError) -> (program: LaunchProgram?, grants: ResolvedGrants) {
        guard let task = declaration(for: identifier) else {
            throw SubmissionError(
                code: .notPermitted, subject: identifier.rawValue,
                finding: "the manifest of \(bundle) does not permit it",
                remedy: "Add the identifier to that manifest's tasks")
        }
        var decoded = try Payload(payload, subject: identifier.rawValue)
        decoded.add(task.payloadDefaults ?? [:])
        try task.check(decoded, identifier)
        let grants = try PathGrants(sandbox, task: task, payload: decoded, dataDirectory: dataDirectory)
        if let command = task.command {
            var resolver = CommandResolver(subject: identifier, payload: decoded)
            let start = try resolver.resolve(command, dataDirectory: dataDirectory)
            for path in resolver.paths { try grants.check(path) }
            try CommandCheck.requireTrust(in: start, identifier)
            var resolved = grants.resolved
            if let program = CommandResolver.grant(for: start) { resolved.files.read.append(program) }
            return (.command(start), resolved)
        }
        guard let call = task.call else { return (nil, grants.resolved) }
        var encoder = CallProgramEncoder(subject: identifier.rawValue, payload: decoded)
        let program = try encoder.encode(call)
        for path in encoder.paths { try grants.check(path) }
        return (.call(program), grants.resolved)
    }
}

/// The manifest's grants with the values of a payload.
public struct ResolvedGrants: Equatable, Sendable {
    /// The real paths.
    public var files = FileGrants()
    /// Those of ``files`` that the host must create if they do not exist.
    public var created: [String] = []
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
        // A handler in a plugin may read undeclared keys, and so may a command that reads the payload; others
        // can't. The aps of a push is its envelope, which webhooks require.
        if hasOwnProgram, command?.input != .payload {
            for key in decoded.values.keys.sorted()
            where payload[key] == nil && !(kind == .push && key == SilentPush.envelope) {
                findings.append("the manifest declares no key '\(key.shortened)' for this task")
            }
        }
        guard !findings.isEmpty else { return }
        let keys = requiredPayload.keys.sorted().map { "\"\($0)\": ..." }
        let envelope = kind == .push ? ["\"aps\": {\"content-available\": 1}"] : []
        let example = (envelope + keys).joined(separator: ", ")
        throw SubmissionError(
            code: .invalidRequest, subject: identifier.rawValue,
            finding: "the payload does not fit the manifest: \(findings.joined(separator: "; "))",
            remedy: kind == .push
                ? "Push it with the payload '{\(example)}'" : "Submit it with --payload '{\(example)}'")
    }
}
