import ControlWire
import HandlerRegistry
import LinuxSystem
import RequestStore
import Scheduling
public import TaskModel

/// What is remembered of bundles, and what users and operators tell of them; see `HostControl` for each promise.
extension TaskHost {
    /// Every bundle that is installed or that something is remembered of, by name.
    public func bundles() async throws(SubmissionError) -> [BundleFacts] {
        let now = moments.now()
        return scheduler.knownBundles.map { scheduler.facts(of: $0, at: now) }
    }

    /// Takes note of a use, a dismissal, a switch or a budget.
    public func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts
    {
        guard scheduler.knownBundles.contains(bundle) else { throw unknownBundle(bundle) }
        switch change {
        case .used: await schedule(.used(bundle))
        case .foreground(let isForeground): await schedule(.foregroundChanged(bundle, isForeground))
        case .dismissed: await schedule(.dismissed(bundle))
        case .refresh(let permission):
            try scheduler.checkRefreshSwitch(of: bundle, to: permission, byAdministrator: false)
            await schedule(.refreshSwitched(bundle, permission))
        case .budget(let launches, let cpu):
            await schedule(.budgetChanged(bundle, launches: launches, cpu: cpu))
        }
        // What a user set is stored before the user hears of it.
        guard await saveBundleStates() else {
            throw SubmissionError(
                code: .unavailable, subject: "\(bundle)",
                finding: "it is in force, but the store could not take it and it ends with the host",
                remedy: "See 'bgtask logs' for the cause; the host tries again by itself")
        }
        return scheduler.facts(of: bundle, at: moments.now())
    }

    /// Delivers a silent push to the bundle's task of kind `push`.
    public func push(
        to bundle: BundleIdentifier, payload: String?, priority: PushPriority
    ) async throws(SubmissionError) -> TaskRequest {
        guard let manifest = registered.handlers.first(where: { $0.manifest.bundle == bundle })?.manifest
        else {
            throw unknownBundle(bundle)
        }
        guard let task = manifest.tasks.first(where: { $0.kind == .push && !$0.pattern.isWildcard }) else {
            throw SubmissionError(
                code: .notPermitted, subject: "\(bundle)",
                finding: "its manifest has no task of the kind push",
                remedy: "Add one, and the mode remote-notification: Documentation/Manifest.md")
        }
        var submission = TaskSubmission(identifier: task.pattern.base, origin: .client)
        submission.payload = payload
        submission.pushPriority = priority
        return try await submit(submission)
    }

    /// Every policy's answer about starting a task now.
    public func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation {
        let now = moments.now()
        let running = running.values.first { $0.record.identifier == identifier }?.record.id
        if let request = scheduler.pendingRequest(of: identifier),
            let explanation = scheduler.explain(request.id, at: now)
        {
            return TaskExplanation(
                identifier: identifier, kind: request.kind, pending: request.id, running: running,
                explanation: explanation, forecast: forecast(request, explanation, at: now))
        }
        guard let handler = handler(for: identifier),
            let declaration = handler.manifest.declaration(for: identifier)
        else { throw notPermitted(identifier) }
        let submission = TaskSubmission(identifier: identifier, origin: .client)
        // No policy looks at the number; the request is never stored.
        let request = TaskRequest(
            id: RequestID(rawValue: .max), submission: submission, bundle: handler.manifest.bundle,
            kind: declaration.kind, submittedAt: now.wall, attempt: 1, notBefore: nil,
            deadline: settings.deadline(for: submission, at: now))
        let explanation = scheduler.explain(request, at: now)
        return TaskExplanation(
            identifier: identifier, kind: declaration.kind, pending: nil, running: running,
            explanation: explanation, forecast: forecast(request, explanation, at: now))
    }

    /// What was recorded of a launch's start and of its stop.
    public func explain(_ id: LaunchID) async throws(SubmissionError) -> LaunchExplanation {
        let record = try await launch(id).record
        return LaunchExplanation(
            record: record, start: ExplanationText.decode(record.explanation),
            stop: ExplanationText.decode(record.stopExplanation))
    }

    /// The user's answer whether a launch should keep going.
    public func answer(_ id: LaunchID, keepGoing: Bool) async throws(SubmissionError) {
        guard running[id] != nil else {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "it does not run", remedy: "See 'bgtask launches'"
            )
        }
        await schedule(.answered(id, keepGoing: keepGoing))
    }

    /// Gives the scheduler what earlier runs of the host stored of each bundle.
    func restoreBundles() async throws {
        for (key, text) in try await store.settings() where key.hasPrefix(Self.bundleKeyPrefix) {
            guard let bundle = try? BundleIdentifier(String(key.dropFirst(Self.bundleKeyPrefix.count))) else {
                continue
            }
            do {
                let state = try ControlJSON.decode(BundleState.self, from: text)
                remember(.bundleRestored(bundle, state))
            } catch {
                log.append(
                    .warning,
                    "what was stored of \(bundle) can't be read and begins anew: \(ControlJSON.sentence(of: error))"
                )
            }
        }
    }

    /// Keeps a bundle's new state for the next write; launches do not wait for it.
    func keep(_ state: BundleState, of bundle: BundleIdentifier) {
        unsavedBundles[bundle] = state
        // Apart from the event that changed it: one write then takes what several events changed.
        if bundleWrite == nil { bundleWrite = Task { await writeBundleStates() } }
    }

    /// Returns when everything that was kept is stored, or the store could not take it.
    ///
    /// - Returns: Whether it is stored.
    @discardableResult
    func saveBundleStates() async -> Bool {
        while true {
            if let bundleWrite {
                // It took what was there when it began; what was kept since needs another look.
                if await bundleWrite.value == false { return false }
            } else if unsavedBundles.isEmpty {
                return true
            } else {
                bundleWrite = Task { await writeBundleStates() }
            }
        }
    }

    /// Writes what is not written yet, one write after the other; what the store can't take is kept for the next time.
    private func writeBundleStates() async -> Bool {
        defer { bundleWrite = nil }
        while let (bundle, state) = unsavedBundles.first {
            unsavedBundles[bundle] = nil
            do {
                let text = String(decoding: try ControlJSON.line(state), as: UTF8.self)
                try await store.setSetting(Self.bundleKeyPrefix + bundle.rawValue, text)
            } catch {
                if unsavedBundles[bundle] == nil { unsavedBundles[bundle] = state }
                hasUnstoredBundles = true
                log.append(.error, "what changed of \(bundle) was not stored yet: \(error)")
                armTimer()
                return false
            }
        }
        hasUnstoredBundles = false
        return true
    }

    private static let bundleKeyPrefix = "bundle/"

    private func unknownBundle(_ bundle: BundleIdentifier) -> SubmissionError {
        SubmissionError(
            code: .notFound, subject: "\(bundle)", finding: "no manifest has it",
            remedy: "See 'bgtask settings' for the bundles that are known")
    }
}
