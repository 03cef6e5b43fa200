import ControlClient
import ControlWire
import TaskModel

extension ControlClient {
    /// The task that an identifier or a short form of one means.
    ///
    /// A name that fits no task of a manifest is returned as it is, because the host may still know requests
    /// and launches of a task that is gone.
    ///
    /// - Throws: ``ControlClientError/refused(_:)`` if the short form fits more than one task.
    func task(_ name: TaskIdentifier) async throws -> TaskIdentifier {
        let meanings = try await names(meaning: name).tasks.identifiers
        guard meanings != [name.rawValue], !meanings.isEmpty else { return name }
        // A whole identifier is no short form of another, even if its manifest is gone.
        if try await pending(name) != nil { return name }
        if try await newestLaunch(of: name) != nil { return name }
        if let only = try Self.only(name.rawValue, meanings, "tasks") { return try TaskIdentifier(only) }
        return name
    }

    /// The task that an identifier or a short form of one means, as ``task(_:)``.
    ///
    /// - Throws: ``ControlClientError/refused(_:)`` if the host knows neither such a task nor a request or a
    ///   launch of it.
    func knownTask(_ name: TaskIdentifier) async throws -> TaskIdentifier {
        let task = try await task(name)
        if try await isPermitted(task) { return task }
        if try await pending(task) != nil { return task }
        if try await newestLaunch(of: task) != nil { return task }
        throw await unknown(task)
    }

    /// The error for a task of which the host knows neither a request nor a launch.
    func unknown(_ task: TaskIdentifier) async -> ControlClientError {
        let isPermitted = (try? await isPermitted(task)) ?? true
        let nothing = "it has no pending request, and the host remembers no launch of it"
        return .refused(
            ErrorMessage(
                SubmissionError(
                    code: .notFound, subject: "\(task)",
                    finding: isPermitted ? nothing : "no manifest has a task of this name, \(nothing)",
                    remedy: isPermitted
                        ? "To see what a request would wait for: bgtask explain \(task)"
                        : "To list the tasks: bgtask plugins")))
    }

    /// Whether a manifest has the task.
    private func isPermitted(_ task: TaskIdentifier) async throws -> Bool {
        try await names(meaning: task).tasks.identifiers.contains(task.rawValue)
    }

    /// The bundle that an identifier or a short form of one means, as ``task(_:)``.
    func bundle(_ name: BundleIdentifier) async throws -> BundleIdentifier {
        let meanings = try await names(meaning: TaskIdentifier(name.rawValue)).bundles.identifiers
        if let only = try Self.only(name.rawValue, meanings, "bundles") { return try BundleIdentifier(only) }
        return name
    }

    /// A refusal that also says which name the user probably meant, if its subject is not a known one.
    func advised(_ error: ControlClientError) async -> ControlClientError {
        guard case .refused(var refusal) = error, refusal.isOfUnknownName,
            let word = try? TaskIdentifier(refusal.subject), let names = try? await names(meaning: word),
            names.tasks.identifiers.isEmpty, names.bundles.identifiers.isEmpty,
            let nearest = names.tasks.nearest ?? names.bundles.nearest
        else { return error }
        refusal.remedy = "Did you mean '\(nearest)'? \(refusal.remedy)"
        return .refused(refusal)
    }

    /// The only meaning of a word; `nil` if it has none.
    private static func only(
        _ word: String, _ meanings: [String], _ kind: String
    ) throws(ControlClientError) -> String? {
        guard meanings.count > 1 else { return meanings.first }
        let shown = 5
        let more = meanings.count > shown ? " and \(meanings.count - shown) more" : ""
        throw .refused(
            ErrorMessage(
                SubmissionError(
                    code: .invalidRequest, subject: word,
                    finding: "this is short for \(meanings.count) \(kind): "
                        + meanings.prefix(shown).joined(separator: ", ") + more,
                    remedy: "Write more of the one that you mean")))
    }
}

extension Optional {
    /// The value after an asynchronous change; `nil` stays `nil`.
    func asyncMap<Other>(_ change: (Wrapped) async throws -> Other) async rethrows -> Other? {
        guard let self else { return nil }
        return try await change(self)
    }
}

extension ErrorMessage {
    /// Whether the host refused because it does not know a name.
    var isOfUnknownName: Bool {
        [SubmissionError.Code.notFound, .notPermitted].map(\.rawValue).contains(code)
    }
}
