public import TaskModel

extension Scheduler {
    /// The properties that a submission would have as a request, and the limit for storing it.
    public struct Admission: Equatable, Sendable {
        /// The bundle whose manifest permits the identifier.
        public var bundle: BundleIdentifier
        /// The kind of the task in the manifest.
        public var kind: TaskKind
        /// How many requests of this kind the bundle may have pending; `nil` means no limit.
        public var pendingLimit: Int?
        /// The time from which the request no longer waits for better conditions; the client's
        /// `startDeadline` is another one.
        public var deadline: WallTime
    }

    /// Checks whether a submission may be stored now.
    ///
    /// - Throws: ``SubmissionError`` if a permission, a limit or a missing resource prevents that. For the
    ///   strategy `fail`, it is thrown also if a policy has a veto.
    public func admit(_ submission: TaskSubmission, at now: Moment) throws(SubmissionError) -> Admission {
        let identifier = submission.identifier
        func refuse(_ code: SubmissionError.Code, _ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(code: code, subject: identifier.rawValue, finding: finding, remedy: remedy)
        }

        if isShuttingDown {
            throw refuse(.unavailable, "the host is stopping", "Submit it again when the host runs")
        }
        guard let (manifest, declaration) = situation.permits.owner(of: identifier) else {
            throw refuse(
                .notPermitted, "no manifest permits it",
                "Add it to a manifest, or check the name: bgtask plugins")
        }
        let (bundle, kind) = (manifest.bundle, declaration.kind)
        if let refusal = situation.permits.refusal(of: identifier, kind: kind, bundle: bundle) {
            throw refuse(
                .notPermitted, "\(refusal.observed); the task needs \(refusal.required)", refusal.remedy)
        }
        if let meant = submission.kind, meant != kind {
            throw refuse(
                .notPermitted,
                "this is a request of the kind \(meant.textWithClass), and the manifest of \(bundle) permits the "
                    + "identifier as \(kind.textWithClass)",
                "Submit a request of the kind \(kind.rawValue)"
                    + (meant == .appLaunch
                        ? "" : ", or change the manifest: 'kind: \(meant.rawValue)'"))
        }
        // The switch for refresh does not apply to `bgtask launch`. Its request never waits, so no pending
        // limit applies either.
        let isSimulated = submission.origin == .simulated
        if !isSimulated, RefreshAllowed.binds(kind),
            let refusal = RefreshAllowed.refusal(bundle, bundleState(bundle), settings)
        {
            throw refuse(.unavailable, "background refresh is \(refusal.observed)", refusal.remedy)
        }
        if kind == .continuedProcessing, submission.origin == .handler || submission.origin == .schedule {
            throw refuse(
                .notPermitted,
                "a continued task starts when a user asks for it, and this request came from a \(submission.origin.rawValue)",
                "Submit it from a client: bgtask submit \(identifier)")
        }
        if kind == .appLaunch, submission.origin == .handler || submission.origin == .schedule {
            throw refuse(
                .notPermitted,
                "it is the launch of an app, and this request came from a \(submission.origin.rawValue)",
                "Submit a task of the bundle; the app is launched by 'bgtask open \(bundle)'")
        }
        if submission.tags.count > Tag.mostPerRequest {
            throw refuse(
                .invalidRequest, "it has \(submission.tags.count) tags",
                "Use at most \(Tag.mostPerRequest) tags")
        }
        for date in [submission.earliestBeginDate, submission.deadline].compactMap(\.self)
        where date > Self.lastDate {
            throw refuse(
                .invalidRequest, "it names a date after the year 9998, which messages can't contain",
                "Choose an earlier date")
        }
        if let limit = submission.startDeadline {
            try checkDeadline(limit, of: submission, at: now)
        }
        if submission.requiresGPU, manifest.sandbox.gpu != true {
            throw refuse(
                .notPermitted, "it asks for the GPU, and the manifest of \(bundle) does not permit that",
                "Add to the manifest: sandbox: {gpu: true}")
        }
        if submission.requiresGPU, situation.conditions.gpu != .known(true) {
            throw refuse(
                .notPermitted, "it asks for the GPU, and this machine offers none",
                "Submit it without the GPU")
        }
        if let urgent = pending.request(of: identifier), submission.isLessUrgent(than: urgent, kind: kind) {
            throw SubmissionError.moreUrgentWaits(identifier, urgent.id)
        }
        let limit =
            submission.origin == .schedule || isSimulated || declaration.queue != nil
            ? nil : manifest.pendingLimits[kind] ?? settings.pendingLimit(for: kind)
        if let limit {
            let replaced =
                pending.request(of: identifier).map { $0.submission.origin != .schedule ? 1 : 0 } ?? 0
            if pending.count(of: kind, bundle: bundle) - replaced >= limit {
                throw refuse(
                    .tooManyPendingTaskRequests,
                    "\(limit) of \(limit) pending \(kind.rawValue) requests of \(bundle) are taken",
                    "Cancel one, wait until one is launched, or permit more in the manifest: pending: {\(kind.rawValue): \(limit + 1)}"
                )
            }
        }
        let admission = Admission(
            bundle: bundle, kind: kind, pendingLimit: limit,
            deadline: settings.deadline(
                for: submission, kind: kind, lastUsed: bundleState(bundle).lastUsed, at: now))
        if kind == .continuedProcessing, submission.strategy == .fail {
            try checkImmediateStart(submission, admission, at: now)
        }
        return admission
    }

    /// The latest date that a submission may name: 9998-12-31T23:59:59Z.
    ///
    /// A date of RFC 3339 has four digits for the year, and the host computes other dates from this one.
    private static let lastDate = WallTime(sinceEpoch: .seconds(253_370_764_799))

    private func checkDeadline(
        _ limit: StartDeadline, of submission: TaskSubmission, at now: Moment
    ) throws(SubmissionError) {
        func refuse(_ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(
                code: .invalidRequest, subject: submission.identifier.rawValue, finding: finding,
                remedy: remedy)
        }
        guard limit.date > now.wall else {
            throw refuse("its deadline, \(limit.date.text), has passed", "Choose a later deadline")
        }
        if let begin = submission.earliestBeginDate, begin >= limit.date {
            throw refuse(
                "it may not begin before \(begin.text), and its deadline is \(limit.date.text)",
                "Choose a deadline after the earliest begin date")
        }
    }

    private func checkImmediateStart(
        _ submission: TaskSubmission, _ admission: Admission, at now: Moment
    ) throws(SubmissionError) {
        // This request is never stored, and no verdict depends on its number.
        let request = TaskRequest(
            id: RequestID(rawValue: .max), submission: submission, bundle: admission.bundle,
            kind: admission.kind,
            submittedAt: now.wall, attempt: 1, notBefore: nil, deadline: admission.deadline)
        guard let veto = explain(request, at: now).vetoes.first else { return }
        let reason = veto.rationale.first
        throw SubmissionError(
            code: .immediateRunIneligible, subject: submission.identifier.rawValue,
            finding: "it has the strategy 'fail', and the policy \(veto.policy) does not let it start now"
                + (reason.map { ". \($0.sentence)" } ?? ""),
            remedy: (reason?.remedy).map { "\($0). Or submit it with the strategy 'queue'; it then waits" }
                ?? "Submit it with the strategy 'queue'; it then waits")
    }
}
