public import RequestStore
import Synchronization
public import TaskModel

/// A store that forgets everything with the process: dictionaries under one lock, written apart from the SQL.
///
/// It passes the same suite as the durable one, so that tests of the host may use it.
public final class MemoryRequestStore: RequestStore {
    private struct State {
        var requests: [RequestID: RequestRecord] = [:]
        var checkpoints: [RequestID: [UInt8]] = [:]
        var launches: [LaunchID: LaunchRecord] = [:]
        var successes: [TaskIdentifier: WallTime] = [:]
        var settings: [String: String] = [:]
        var lastRequest: Int64 = 0
        var lastLaunch: Int64 = 0
        var lastToken: Int64 = 0

        func pending(_ identifier: TaskIdentifier) -> RequestRecord? {
            requests.values.first { $0.state == .pending && $0.request.identifier == identifier }
        }

        mutating func end(_ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime) {
            requests[id]?.state = .done
            requests[id]?.outcome = outcome
            requests[id]?.reason = reason
            requests[id]?.endedAt = time.rounded
            checkpoints[id] = nil
        }

        mutating func settle(
            _ launch: LaunchRecord, _ end: LaunchEnd, at time: WallTime, putBack: PutBack?
        ) -> TaskRequest? {
            guard let putBack, pending(launch.identifier) == nil, var record = requests[launch.request] else {
                self.end(launch.request, end.outcome, end.reason, at: time)
                return nil
            }
            record.state = .pending
            record.request.attempt += 1
            if putBack.isRetry { record.request.failures += 1 }
            record.request.notBefore = putBack.notBefore?.rounded
            requests[launch.request] = record
            return record.request
        }

        mutating func change(_ id: LaunchID, _ body: (inout LaunchRecord) -> Void) {
            guard var launch = launches[id], launch.state != .ended else { return }
            body(&launch)
            launches[id] = launch
        }
    }

    private let state = Mutex(State())

    public init() {}

    public func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, at time: WallTime,
        deadline: WallTime, pendingLimit: Int?
    ) async throws(SubmissionError) -> Acceptance {
        try state.withLock { state throws(SubmissionError) in
            if let key = submission.idempotencyKey,
                let earlier = state.requests.values.first(where: {
                    $0.request.identifier == submission.identifier
                        && $0.request.submission.idempotencyKey == key
                })
            {
                return Acceptance(
                    request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil)
            }
            let replaced = state.pending(submission.identifier)
            if let replaced, submission.origin == .schedule, replaced.request.submission.origin != .schedule {
                return Acceptance(request: replaced.request, state: .pending, isRepeat: true, replaced: nil)
            }
            let taken = state.requests.values.count {
                $0.state == .pending && $0.request.bundle == bundle && $0.request.kind == kind
                    && $0.request.submission.origin != .schedule && $0.request.id != replaced?.request.id
            }
            if let pendingLimit, submission.origin != .schedule, taken >= pendingLimit {
                throw SubmissionError(
                    code: .tooManyPendingTaskRequests, subject: submission.identifier.rawValue,
                    finding: "\(taken) of \(pendingLimit) pending requests are taken",
                    remedy: "Cancel one, or wait for a launch")
            }
            state.lastRequest += 1
            let id = RequestID(rawValue: state.lastRequest)
            if let replaced {
                state.end(replaced.request.id, .cancelled, nil, at: time)
                state.requests[replaced.request.id]?.replacedBy = id
            }
            var kept = submission
            kept.earliestBeginDate = submission.earliestBeginDate?.rounded
            kept.deadline = nil
            let request = TaskRequest(
                id: id, submission: kept, bundle: bundle, kind: kind, submittedAt: time.rounded, attempt: 1,
                notBefore: nil, deadline: deadline.rounded)
            state.requests[id] = RequestRecord(request: request, state: .pending)
            return Acceptance(request: request, state: .pending, isRepeat: false, replaced: replaced?.request)
        }
    }

    public func pendingRequests() async -> [TaskRequest] {
        state.withLock { state in
            state.requests.values.filter { $0.state == .pending }.map(\.request).sorted { $0.id < $1.id }
        }
    }

    public func request(_ id: RequestID) async -> RequestRecord? { state.withLock { $0.requests[id] } }

    public func cancelPending(_ id: RequestID, at time: WallTime, reason: Reason) async -> Bool {
        state.withLock { state in
            guard state.requests[id]?.state == .pending else { return false }
            state.end(id, .cancelled, reason, at: time)
            return true
        }
    }

    public func beginLaunch(
        of request: RequestID, at time: WallTime, isolation: String, libraryHash: String?, isSimulated: Bool,
        explanation: String?
    ) async throws(StoreError) -> LaunchRecord {
        try state.withLock { state throws(StoreError) in
            guard let record = state.requests[request], record.state == .pending else {
                throw StoreError(
                    code: .notPending, subject: "\(request)", finding: "the request is not pending",
                    remedy: "Only a pending request can be launched")
            }
            state.requests[request]?.state = .launched
            state.lastLaunch += 1
            state.lastToken += 1
            var launch = LaunchRecord(
                id: LaunchID(rawValue: state.lastLaunch), request: record.request, token: state.lastToken,
                startedAt: time.rounded, isolation: isolation, libraryHash: libraryHash,
                isSimulated: isSimulated)
            launch.explanation = explanation
            state.launches[launch.id] = launch
            return launch
        }
    }

    public func markReady(_ id: LaunchID, at time: WallTime) async {
        state.withLock { state in
            state.change(id) { launch in
                if launch.readyAt != nil { return }
                launch.readyAt = time.rounded
                if launch.state == .starting { launch.state = .running }
            }
        }
    }

    public func markExpiring(_ id: LaunchID, reason: Reason, explanation: String?) async {
        state.withLock { state in
            state.change(id) { launch in
                if launch.expiration != nil { return }
                launch.expiration = reason
                launch.stopExplanation = explanation
                launch.state = .expiring
            }
        }
    }

    @discardableResult
    public func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8]) async -> Bool {
        state.withLock { state in
            guard let launch = state.launches[id], launch.state != .ended else { return false }
            state.checkpoints[launch.request] = bytes
            return true
        }
    }

    public func setTitle(_ id: LaunchID, title: String, subtitle: String) async {
        state.withLock { state in
            guard let launch = state.launches[id], launch.state != .ended else { return }
            state.change(id) { ($0.title, $0.subtitle) = (title, subtitle) }
            state.requests[launch.request]?.request.submission.title = title
            state.requests[launch.request]?.request.submission.subtitle = subtitle
        }
    }

    public func recordProgress(_ id: LaunchID, _ progress: TaskProgress, at moment: Moment) {
        state.withLock { $0.change(id) { $0.progress = progress } }
    }

    public func endLaunch(
        _ id: LaunchID, _ end: LaunchEnd, at time: WallTime, cpuTime: Duration, cpuIsLowerBound: Bool,
        peakMemory: ByteCount?, progress: TaskProgress?, putBack: PutBack?
    ) async -> TaskRequest? {
        state.withLock { state in
            guard var launch = state.launches[id], launch.state != .ended else { return nil }
            launch.state = .ended
            launch.end = end
            launch.endedAt = time.rounded
            launch.cpuTime = cpuTime
            launch.cpuIsLowerBound = cpuIsLowerBound
            launch.peakMemory = peakMemory
            launch.progress = progress ?? launch.progress
            state.launches[id] = launch
            if end.outcome == .succeeded { state.successes[launch.identifier] = time.rounded }
            return state.settle(launch, end, at: time, putBack: putBack)
        }
    }

    public func checkpoint(of request: RequestID) async -> [UInt8]? {
        state.withLock { $0.checkpoints[request] }
    }

    public func lastSuccess(of identifier: TaskIdentifier) async -> WallTime? {
        state.withLock { $0.successes[identifier] }
    }

    public func recover(
        at time: WallTime, isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool,
        backOff: @escaping @Sendable (LaunchRecord) -> WallTime?
    ) async -> Recovery {
        state.withLock { state in
            var recovery = Recovery(lost: [], putBack: [])
            for var launch in state.launches.values.filter({ $0.state != .ended }).sorted(by: {
                $0.id < $1.id
            }) {
                let end = LaunchEnd(
                    outcome: .lost, reason: .hostDied,
                    message: "The host ended without recording how this launch ended")
                launch.state = .ended
                launch.end = end
                launch.endedAt = time.rounded
                launch.cpuIsLowerBound = true
                state.launches[launch.id] = launch
                recovery.lost.append(launch)
                let isDue = PutBackRule.applies(
                    kind: launch.kind, outcome: .lost, completed: false, expiration: launch.expiration,
                    isAtMostOnce: isAtMostOnce(launch.bundle, launch.identifier))
                let putBack = isDue ? PutBack(notBefore: backOff(launch)) : nil
                if let request = state.settle(launch, end, at: time, putBack: putBack) {
                    recovery.putBack.append(request)
                }
            }
            return recovery
        }
    }

    public func launch(_ id: LaunchID) async -> LaunchRecord? { state.withLock { $0.launches[id] } }

    public func launches(identifier: TaskIdentifier?, limit: Int, before: LaunchID?) async -> [LaunchRecord] {
        state.withLock { state in
            let chosen = state.launches.values.filter { launch in
                (identifier == nil || launch.identifier == identifier)
                    && (before.map { launch.id < $0 } ?? true)
            }
            return Array(chosen.sorted { $0.id > $1.id }.prefix(max(0, limit)))
        }
    }

    public func launches(of request: RequestID) async -> [LaunchRecord] {
        state.withLock { state in
            state.launches.values.filter { $0.request == request }.sorted { $0.id < $1.id }
        }
    }

    public func setting(_ key: String) async -> String? { state.withLock { $0.settings[key] } }

    public func settings() async -> [String: String] { state.withLock { $0.settings } }

    public func setSetting(_ key: String, _ value: String?) async {
        state.withLock { $0.settings[key] = value }
    }

    @discardableResult
    public func prune(keepingNewest count: Int, olderThan time: WallTime) async -> Int {
        state.withLock { state in
            let newest = Set(state.launches.keys.sorted(by: >).prefix(max(0, count)))
            let old = state.launches.values.filter { launch in
                !newest.contains(launch.id) && (launch.endedAt.map { $0 < time } ?? false)
            }
            for launch in old { state.launches[launch.id] = nil }
            let used = Set(state.launches.values.map(\.request))
            let forgotten = state.requests.values.filter { record in
                record.state == .done && !used.contains(record.request.id)
                    && (record.endedAt.map { $0 < time } ?? false)
            }
            for record in forgotten { state.requests[record.request.id] = nil }
            return old.count + forgotten.count
        }
    }
}
