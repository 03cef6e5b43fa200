import HandlerRegistry
import RequestStore
import Scheduling
public import TaskModel

/// How a submission becomes a request.
extension TaskHost {
    /// Accepts a request; durable when it returns.
    public func submit(_ submission: TaskSubmission) async throws(SubmissionError) -> TaskRequest {
        try await accept(submission).request
    }

    /// Checks a submission against the manifests, stores it and tells the scheduler.
    ///
    /// - Parameters:
    ///   - submission: What is asked.
    ///   - isInClient: Whether a client that is connected will run it.
    ///   - whenStored: Called after the store and before the scheduler knows it.
    /// - Returns: The store's answer.
    /// - Throws: What decided against it.
    func accept(
        _ submission: TaskSubmission, isInClient: Bool = false,
        whenStored: (RequestID) -> Void = { _ in }
    ) async throws(SubmissionError) -> Acceptance {
        guard phase == .serving else {
            throw SubmissionError(
                code: .unavailable, subject: "\(submission.identifier)",
                finding: "the host is \(phase == .draining ? "stopping" : "starting")",
                remedy: "Submit again when it serves")
        }
        if declaration(for: submission.identifier) == nil { await rescan() }
        guard let handler = handler(for: submission.identifier) else {
            throw notPermitted(submission.identifier)
        }
        guard isInClient || handler.canLaunch(submission.identifier) else {
            throw noClient(for: submission.identifier)
        }
        let dataDirectory: String?
        do {
            dataDirectory = try await directories.existingData(of: handler.manifest.bundle)
        } catch {
            throw error.asSubmissionError
        }
        try handler.manifest.checkPayload(
            submission.payload, for: submission.identifier, dataDirectory: dataDirectory)
        let now = moments.now()
        let admission = try scheduler.admit(submission, at: now)
        let acceptance = try await store.accept(
            submission, bundle: admission.bundle, kind: admission.kind, at: now.wall,
            deadline: admission.deadline, pendingLimit: admission.pendingLimit)
        whenStored(acceptance.request.id)
        if !acceptance.isRepeat { await take(acceptance) }
        return acceptance
    }

    /// Makes an accepted request known to the scheduler and to those who listen.
    func take(_ acceptance: Acceptance) async {
        let request = acceptance.request
        if let replaced = acceptance.replaced {
            pending[replaced.id] = nil
            clientOfRequest[replaced.id] = nil
            vetoes.forget(replaced.id)
            if replaced.id != request.id {
                happenings.send(.requestCancelled(replaced.id, replaced.identifier, .cancelledByUser))
            }
        }
        // Two submissions of one identifier may come back from the store out of order: the later number is in force.
        if pending.values.contains(where: { $0.identifier == request.identifier && $0.id > request.id }) {
            return
        }
        pending[request.id] = request
        happenings.send(.requestAccepted(request))
        log.append(.info, "accepted \(request.id)", identifier: request.identifier)
        await schedule(.submitted(request))
    }

    /// The handler that permits an identifier; an exact permission wins over a wildcard, a longer one over a shorter.
    func handler(for identifier: TaskIdentifier) -> PermittedHandler? {
        let permitting = registered.handlers.compactMap { handler in
            handler.manifest.declaration(for: identifier).map { (handler, $0.pattern) }
        }
        return permitting.max { left, right in
            if left.1.isWildcard != right.1.isWildcard { return left.1.isWildcard }
            return left.1.base.rawValue.utf8.count < right.1.base.rawValue.utf8.count
        }?.0
    }

    /// The handler of a stored request: its bundle's, if that still permits it.
    func handler(for request: TaskRequest) -> PermittedHandler? {
        registered.handlers.first {
            $0.manifest.bundle == request.bundle && $0.manifest.declaration(for: request.identifier) != nil
        }
    }

    /// The declaration that an identifier falls under.
    func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
        handler(for: identifier)?.manifest.declaration(for: identifier)
    }

    func notPermitted(_ identifier: TaskIdentifier) -> SubmissionError {
        let errors = registered.problems.filter { $0.severity == .error }
        // The mistake is most likely one of the first; 'bgtask plugins' has them all.
        var told = errors.prefix(2).map { error in
            ([error.file] + [error.line].compactMap { $0.map(String.init) }).joined(separator: ":")
                + ": " + error.finding
        }
        if errors.count > told.count { told.append("and \(errors.count - told.count) more") }
        let finding =
            errors.isEmpty
            ? "no manifest in \(configuration.manifestsDirectory) permits it"
            : "no manifest permits it, and there are errors in manifests: \(told.joined(separator: "; "))"
        return SubmissionError(
            code: .notPermitted, subject: "\(identifier)", finding: finding,
            remedy: errors.isEmpty
                ? "Add the identifier to a manifest's tasks, or see 'bgtask plugins' for those that are permitted"
                : "See 'bgtask plugins' for the lines to mend")
    }

    /// A handler's own submission: for its own bundle, and nothing that only a user may ask for.
    func answerSubmit(
        _ submission: TaskSubmission, from id: LaunchID
    ) async -> Result<[TaskRequest], SubmissionError> {
        guard let launch = running[id] else { return .failure(gone(id)) }
        guard let handler = handler(for: submission.identifier),
            handler.manifest.bundle == launch.record.bundle
        else {
            return .failure(
                SubmissionError(
                    code: .notPermitted, subject: "\(submission.identifier)",
                    finding: "the manifest of \(launch.record.bundle) does not permit it",
                    remedy: "Add the identifier to that manifest's tasks"))
        }
        do {
            return .success([try await accept(submission).request])
        } catch {
            return .failure(error)
        }
    }

    func answerCancel(
        _ identifier: TaskIdentifier?, from id: LaunchID
    ) async -> Result<[TaskRequest], SubmissionError> {
        guard let launch = running[id] else { return .failure(gone(id)) }
        let cancelled = pending.values.filter {
            $0.bundle == launch.record.bundle && (identifier == nil || $0.identifier == identifier)
        }
        for request in cancelled {
            do {
                try await withdraw(request)
            } catch {
                return .failure(error)
            }
        }
        return .success([])
    }

    func answerPending(from id: LaunchID) -> Result<[TaskRequest], SubmissionError> {
        guard let launch = running[id] else { return .failure(gone(id)) }
        return .success(
            pending.values.filter { $0.bundle == launch.record.bundle }.sorted { $0.id < $1.id })
    }

    /// Cancels a pending request for good.
    func withdraw(_ request: TaskRequest) async throws(SubmissionError) {
        do {
            guard try await store.cancelPending(request.id, at: moments.now().wall) else { return }
        } catch {
            throw error.asSubmissionError
        }
        pending[request.id] = nil
        clientOfRequest[request.id] = nil
        vetoes.forget(request.id)
        happenings.send(.requestCancelled(request.id, request.identifier, .cancelledByUser))
        log.append(.info, "cancelled \(request.id)", identifier: request.identifier)
        await schedule(.withdrawn(request.id))
    }

    private func gone(_ id: LaunchID) -> SubmissionError {
        SubmissionError(
            code: .unavailable, subject: "\(id)", finding: "the launch has ended",
            remedy: "Submit before completing")
    }
}

extension StoreError {
    /// The same sentence, for a client.
    var asSubmissionError: SubmissionError {
        SubmissionError(
            code: code == .notPending ? .notFound : .unavailable, subject: subject, finding: finding,
            remedy: remedy)
    }
}
