import ControlServer
import ControlWire
import LogFiles
import Synchronization
import TaskModel

/// A host whose answers come from a script, and which records the calls.
final class ScriptedHost: HostControl, LogControl, TransferControl, PushControl {
    struct Script {
        var asked: [String] = []
        var submissions: [TaskSubmission] = []
        var refusal: SubmissionError?
        var pending: [PendingRequest] = []
        var queues: [QueueState] = []
        var handlers: [PermittedHandler] = []
        var launches: [LaunchRecord] = []
        var ended: [RequestRecord] = []
        var log: [LogLine] = []
        var attempt = 1
        /// Why a policy stopped the launches; `nil` if none did.
        var stop: Explanation?
        /// Whether listing launches works although every other call is refused.
        var showsLaunchesAnyway = false
        /// The request that the next submission replaces.
        var replaces: RequestID?
        /// Whether the host already knows the next submission.
        var isRepeat = false
        /// The followers of the events and those of the log, each by its number.
        var listeners: [Int: @Sendable (HostEvent?) -> Void] = [:]
        var readers: [Int: @Sendable (LogLine?) -> Void] = [:]
        var lastFollower = 0
        var waiters: [(word: String, continuation: CheckedContinuation<Void, Never>)] = []
        /// Called after a submission was accepted.
        var onSubmit: @Sendable (ScriptedHost, TaskRequest) -> Void = { _, _ in }
        /// Called after pending requests were listed.
        var onPending: @Sendable (ScriptedHost) -> Void = { _ in }
        /// Called after a simulated launch was requested.
        var onSimulate: @Sendable (ScriptedHost, LaunchRecord) -> Void = { _, _ in }
        /// Called after several transfers were accepted.
        var onTransfers: @Sendable (ScriptedHost, [TransferID]) -> Void = { _, _ in }
        var lastTransfer: Int64 = 4
        /// The transfers whose records the host no longer has.
        var forgotten: Set<TransferID> = []
    }

    let script = Mutex(Script())
    let version = "9.8.7"

    static let start = WallTime(milliseconds: 1_800_000_000_123)

    func edit(_ change: (inout Script) -> Void) {
        script.withLock { change(&$0) }
    }

    /// The calls in order, in the form `submit org.example.a`.
    var asked: [String] { script.withLock { $0.asked } }

    /// Returns when a call was made that begins with this text.
    func waitUntilAsked(_ word: String) async {
        await withCheckedContinuation { continuation in
            let isThere = script.withLock { script in
                if script.asked.contains(where: { $0.hasPrefix(word) }) { return true }
                script.waiters.append((word, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func send(_ event: HostEvent) {
        for listener in script.withLock({ $0.listeners.values }) { listener(event) }
    }

    /// Whether a client follows the events.
    var isFollowed: Bool { script.withLock { !$0.listeners.isEmpty } }

    func endEvents() {
        for listener in script.withLock({ $0.listeners.values }) { listener(nil) }
    }

    func write(_ line: LogLine) {
        for reader in script.withLock({ $0.readers.values }) { reader(line) }
    }

    func note(_ text: String) throws(SubmissionError) {
        let (refusal, ready) = script.withLock { script in
            script.asked.append(text)
            let ready = script.waiters.filter { text.hasPrefix($0.word) }
            script.waiters.removeAll { text.hasPrefix($0.word) }
            return (script.refusal, ready.map(\.continuation))
        }
        for continuation in ready { continuation.resume() }
        if let refusal { throw refusal }
    }

    static func request(_ submission: TaskSubmission, id: Int64 = 17, attempt: Int = 1) -> TaskRequest {
        let bundle = (try? BundleIdentifier("org.example")).unsafelyUnwrapped
        return TaskRequest(
            id: RequestID(rawValue: id), submission: submission, bundle: bundle, kind: .processing,
            submittedAt: start, attempt: attempt, notBefore: nil, deadline: start + .seconds(172_800))
    }

    static func record(_ request: TaskRequest, id: Int64 = 42) -> LaunchRecord {
        LaunchRecord(
            id: LaunchID(rawValue: id), request: request, token: id, startedAt: start, isolation: "cgroup",
            libraryHash: nil, isSimulated: false)
    }

    /// A record of an ended launch, with a value in every field.
    static func ended(_ request: TaskRequest, id: Int64 = 42, _ outcome: Outcome, _ reason: Reason?)
        -> LaunchRecord
    {
        var record = record(request, id: id)
        record.state = .ended
        record.readyAt = start + .milliseconds(100)
        record.endedAt = start + .milliseconds(1200)
        record.end = LaunchEnd(outcome: outcome, reason: reason)
        record.progress = TaskProgress(completed: 9, total: 20, message: "nine")
        record.cpuTime = .milliseconds(812)
        record.peakMemory = .mebibytes(12)
        return record
    }

    func submit(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission
    {
        try note("submit \(submission.identifier)")
        let request = Self.request(submission)
        let (then, accepted) = script.withLock { script in
            script.submissions.append(submission)
            return (
                script.onSubmit,
                AcceptedSubmission(request: request, replaces: script.replaces, isRepeat: script.isRepeat)
            )
        }
        then(self, request)
        return accepted
    }

    func pending(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingRequest, RequestID>
    {
        try note("pending after \(after?.description ?? "-") \(limit)")
        let (pending, then) = script.withLock { ($0.pending, $0.onPending) }
        then(self)
        let left = pending.filter { row in after.map { row.request.id > $0 } ?? true }
        let rows = Array(left.prefix(limit))
        return ListingPage(rows: rows, next: left.count > limit ? rows.last?.request.id : nil)
    }

    func pendingSummaries(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingSummary, RequestID>
    {
        let page = try await pending(after: after, limit: limit, tag: tag)
        let rows = page.rows.map { row in
            let vetoes = row.verdicts.filter { $0.decision != .proceed }
            return PendingSummary(
                request: row.request, reason: vetoes.first, otherReasons: max(0, vetoes.count - 1))
        }
        return ListingPage(rows: rows, next: page.next)
    }

    func pending(_ identifier: TaskIdentifier) async throws(SubmissionError) -> PendingRequest? {
        try note("pending \(identifier)")
        let (pending, then) = script.withLock { ($0.pending, $0.onPending) }
        then(self)
        return pending.first { $0.request.identifier == identifier }
    }

    func launches(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchRecord, LaunchID> {
        var call = "launches \(filter.identifier?.rawValue ?? "all") \(limit)"
        if let after { call += " after \(after)" }
        if let tag = filter.tag { call += " tag \(tag)" }
        if let bundle = filter.bundle { call += " of \(bundle)" }
        if let outcome = filter.outcome { call += " that \(outcome.rawValue)" }
        if let since = filter.since { call += " since \(Timestamp(since))" }
        try note(call)
        let left = script.withLock { $0.launches }.filter { row in after.map { row.id < $0 } ?? true }
        let rows = Array(left.prefix(limit))
        return ListingPage(rows: rows, next: left.count > limit ? rows.last?.id : nil)
    }

    func launchSummaries(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchSummary, LaunchID> {
        let page = try await launches(filter, after: after, limit: limit)
        return ListingPage(rows: page.rows.map(LaunchSummary.init), next: page.next)
    }

    func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail {
        if !script.withLock({ $0.showsLaunchesAnyway }) { try note("show \(id)") }
        let (records, log) = script.withLock { ($0.launches, $0.log) }
        guard let record = records.first(where: { $0.id == id }) else {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "there is no such launch", remedy: "List them")
        }
        return LaunchDetail(record: record, log: log)
    }

    func request(_ id: RequestID) async throws(SubmissionError) -> (
        record: RequestRecord, launches: [LaunchRecord]
    ) {
        try note("show \(id)")
        let (ended, launches) = script.withLock { ($0.ended, $0.launches) }
        guard let record = ended.first(where: { $0.request.id == id }) else {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "there is no such request", remedy: "List them")
        }
        return (record, launches.filter { $0.request == id })
    }

    func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation {
        try note("cancel \(target)")
        return Cancellation(requests: [RequestID(rawValue: 17)], launches: [LaunchID(rawValue: 42)])
    }

    static func transfer(_ request: TransferRequest) -> Transfer {
        Transfer(id: TransferID(rawValue: 5), request: request, submittedAt: start)
    }

    private func storedTransfer() throws(SubmissionError) -> Transfer {
        guard let bundle = try? BundleIdentifier("com.example") else {
            throw SubmissionError(code: .unavailable, subject: "test", finding: "no bundle", remedy: "none")
        }
        return Self.transfer(TransferRequest(bundle: bundle, direction: .download, url: "http://a/b"))
    }

    func transfer(_ request: TransferRequest) async throws(SubmissionError) -> Transfer {
        try note("transfer \(request.url)")
        return Self.transfer(request)
    }

    func transfer(_ requests: [TransferRequest]) async throws(SubmissionError) -> [TransferID] {
        try note("transfers \(requests.map(\.url))")
        let (ids, onTransfers) = script.withLock { script in
            let ids = requests.map { _ in
                script.lastTransfer += 1
                return TransferID(rawValue: script.lastTransfer)
            }
            return (ids, script.onTransfers)
        }
        onTransfers(self, ids)
        return ids
    }

    func cancelTransfer(_ id: TransferID) async throws(SubmissionError) -> Transfer {
        try note("cancel \(id)")
        return try storedTransfer()
    }

    var logs: ScriptedHost { self }
    var transfers: ScriptedHost { self }
    var pushes: ScriptedHost { self }

    func all() async throws(SubmissionError) -> [ExplainedTransfer] {
        try note("transfers")
        return [ExplainedTransfer(transfer: try storedTransfer(), vetoes: [])]
    }

    func transfer(_ id: TransferID) async throws(SubmissionError) -> ExplainedTransfer {
        try note("transfer \(id)")
        if script.withLock({ $0.forgotten.contains(id) }) {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "the host knows no such transfer",
                remedy: "To list the transfers: bgtask transfers")
        }
        return ExplainedTransfer(transfer: try storedTransfer(), vetoes: [])
    }

    func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool, learn: Bool, payload: String?
    ) async throws(SubmissionError) -> SimulatedLaunch {
        let options = (learn ? " learn" : "") + (payload.map { " payload \($0)" } ?? "")
        try note("simulate \(identifier) \(debug)\(options)")
        let record = Self.record(Self.request(TaskSubmission(identifier: identifier, origin: .simulated)))
        script.withLock { $0.onSimulate }(self, record)
        return SimulatedLaunch(record: record, processIdentifier: debug ? 4711 : nil)
    }

    func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID] {
        try note("expire \(target) \(reason.rawValue)")
        return [LaunchID(rawValue: 42)]
    }

    /// The tasks whose short forms the host knows.
    func handlers() async throws(SubmissionError) -> [PermittedHandler] { script.withLock { $0.handlers } }

    func reload() async throws(SubmissionError) { try note("reload") }

    func plugins() async throws(SubmissionError) -> PluginListing {
        try note("plugins")
        guard let bundle = try? BundleIdentifier("org.example"),
            let pattern = try? IdentifierPattern("org.example.*")
        else { return PluginListing(handlers: [], problems: []) }
        var task = TaskDeclaration(pattern: pattern, kind: .processing)
        task.requiresExternalPower = true
        task.schedule = Schedule(every: .seconds(900), tolerance: .seconds(60))
        let manifest = Manifest(
            bundle: bundle, library: "libexample.so", modes: [.processing], tasks: [task],
            sandbox: SandboxDeclaration())
        let problem = ManifestProblem(file: "bad.yaml", line: 4, column: 7, finding: "unknown key 'kindd'")
        return PluginListing(
            handlers: [
                PermittedHandler(
                    manifestPath: "/m/example.yaml", manifest: manifest, libraryPath: "/l/libexample.so",
                    libraryHash: "abc")
            ], problems: [problem])
    }

    func log(following receive: (@Sendable (LogLine?) -> Void)?) -> (
        remembered: [LogLine], stop: @Sendable () -> Void
    ) {
        try? note("log \(receive != nil)")
        return script.withLock { script in
            script.lastFollower += 1
            let number = script.lastFollower
            script.readers[number] = receive
            return (script.log, { [weak self] in self?.script.withLock { $0.readers[number] = nil } })
        }
    }

    func lines(_ query: LogQuery) async -> [LogLine] {
        try? note("lines \(query.launch.map { "\($0)" } ?? "-") \(query.limit)")
        return script.withLock { $0.log.filter(query.wants).suffix(query.limit) }
    }

    func follow(_ receive: @escaping @Sendable (HostEvent?) -> Void) -> @Sendable () -> Void {
        try? note("events")
        let number = script.withLock { script in
            script.lastFollower += 1
            script.listeners[script.lastFollower] = receive
            return script.lastFollower
        }
        return { [weak self] in
            self?.script.withLock { $0.listeners[number] = nil }
            try? self?.note("eventsEnded")
        }
    }

    private var rows: [ConditionRow] {
        [ConditionRow(key: "power", value: "battery:15%", source: "simulated", since: Self.start)]
    }

    func conditions() async throws(SubmissionError) -> [ConditionRow] {
        try note("conditions")
        return rows
    }

    func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow] {
        try note("set \(settings.joined(separator: " "))")
        return rows
    }

    func clearConditions() async throws(SubmissionError) -> [ConditionRow] {
        try note("clear")
        return rows
    }

    func configuration() async throws(SubmissionError) -> ConfigurationListing {
        try note("configuration")
        let origin = ConfiguredValue.Origin(value: "5m", source: "/etc/bgtask/bgtaskd.yaml:3")
        let standard = ConfiguredValue.Origin(value: "15m", source: "standard")
        return ConfigurationListing(
            values: [
                ConfiguredValue(key: "scheduling.refreshSpacing", inForce: origin, overridden: [standard]),
                ConfiguredValue(
                    key: "logLevel", inForce: .init(value: "info", source: "standard"), overridden: []),
            ],
            files: [.init(path: "/etc/bgtask/bgtaskd.yaml", layer: "administrator", state: .inForce)],
            problems: [])
    }

    func report() async throws(SubmissionError) -> HostReport {
        try note("report")
        return HostReport(
            isolation: IsolationReport(
                groupKill: .pidNamespace,
                layers: [.init(name: "cgroup v2", isAvailable: false, finding: "not writable")]),
            facts: [.init(name: "state directory", value: "/s")])
    }
}
