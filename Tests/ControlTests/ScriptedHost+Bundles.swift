import ControlServer
import Synchronization
import TaskModel

/// The bundles, pushes and explanations of the scripted host.
extension ScriptedHost {
    static let veto = Verdict(
        policy: "ExternalPower", decision: .mustNotProceed, score: 0, weight: 1,
        rationale: [
            Rationale(
                quantity: "externalPower", required: "connected", observed: "not connected (battery at 15 %)",
                remedy: "Plug the machine in")
        ], since: start)

    private func facts(_ bundle: BundleIdentifier, _ state: BundleState = BundleState()) -> BundleFacts {
        BundleFacts(
            bundle: bundle, isInstalled: true, state: state, launchesToday: 3, launchLimit: 48,
            cpuToday: .seconds(90), cpuLimit: .seconds(1800))
    }

    func bundles() async throws(SubmissionError) -> [BundleFacts] {
        try note("bundles")
        return (try? BundleIdentifier("org.example")).map { [facts($0)] } ?? []
    }

    func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts
    {
        try note("change \(bundle) \(change)")
        var state = BundleState()
        if case .refresh(let permission) = change { state.refresh = permission }
        return facts(bundle, state)
    }

    func pause() async throws(SubmissionError) -> Pause? {
        try note("pause")
        return nil
    }

    func pause(until end: WallTime?, letsEnd: Bool) async throws(SubmissionError) -> Pause? {
        try note("\(letsEnd ? "drain" : "pause") until \(end.map { "\($0.milliseconds)" } ?? "resumed")")
        var pause = Pause(since: WallTime(milliseconds: 0), until: end)
        pause.letsEnd = letsEnd ? true : nil
        return pause
    }

    func resume() async throws(SubmissionError) -> Pause? {
        try note("resume")
        return nil
    }

    func push(
        to bundle: BundleIdentifier, payload: String?, priority: PushPriority
    ) async throws(SubmissionError) -> AcceptedSubmission {
        try note("push \(bundle) \(payload ?? "nothing") \(priority.rawValue)")
        guard let identifier = try? TaskIdentifier("\(bundle).push") else {
            throw SubmissionError(code: .notFound, subject: "\(bundle)", finding: "none", remedy: "none")
        }
        return AcceptedSubmission(
            request: Self.request(TaskSubmission(identifier: identifier, origin: .client)),
            replaces: script.withLock { $0.replaces }, isRepeat: false, isKept: false)
    }

    func endpoints() async throws(SubmissionError) -> [PushEndpoint] {
        try note("endpoints")
        return []
    }

    func changeSecret(
        of bundle: BundleIdentifier, _ change: PushSecretChange
    ) async throws(SubmissionError) -> PushSecretFacts {
        try note("secret \(bundle) \(change)")
        return PushSecretFacts(
            path: "/state/push-secrets/\(bundle)", secret: change == .remove ? nil : "whsec_c2VjcmV0",
            count: change == .remove ? 0 : 1)
    }

    func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest {
        try note("open \(bundle)")
        guard let identifier = try? TaskIdentifier(bundle.rawValue) else {
            throw SubmissionError(code: .notFound, subject: "\(bundle)", finding: "none", remedy: "none")
        }
        return Self.request(TaskSubmission(identifier: identifier, origin: .client))
    }

    func connect(_ identifiers: [IdentifierPattern], from process: Int32) async throws(SubmissionError)
        -> AsyncStream<ClientCall>
    {
        try note("connect \(identifiers.map(\.description).joined(separator: " "))")
        return AsyncStream { $0.finish() }
    }

    func report(_ id: LaunchID, _ report: ClientReport, from process: Int32) async throws(SubmissionError) {
        try note("report \(id) \(report)")
    }

    private var explanation: Explanation {
        Explanation(
            question: .start, at: Self.start, verdicts: [Self.veto], score: 0.25, threshold: 0.5,
            scoreSuffices: Self.start + .seconds(60))
    }

    func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation {
        try note("explain \(identifier)")
        return TaskExplanation(
            identifier: identifier, kind: .processing, pending: RequestID(rawValue: 17), running: nil,
            explanation: explanation)
    }

    func explain(_ request: RequestID) async throws(SubmissionError) -> TaskExplanation {
        try note("explain \(request)")
        return TaskExplanation(
            identifier: try! TaskIdentifier("com.example.photos.cleanup"), kind: .processing,
            pending: request, running: nil, explanation: explanation)
    }

    func queues() async throws(SubmissionError) -> [QueueState] { script.withLock { $0.queues } }

    func explain(_ launch: LaunchID) async throws(SubmissionError) -> LaunchExplanation {
        try note("explain \(launch)")
        let record = try await self.launch(launch).record
        return LaunchExplanation(record: record, start: explanation, stop: script.withLock { $0.stop })
    }

    func answer(_ launch: LaunchID, keepGoing: Bool) async throws(SubmissionError) {
        try note("answer \(launch) \(keepGoing)")
    }
}
