public import Recording
public import Scheduling
public import TaskModel

/// A log as a world in which other rules can be tried: what came from outside is kept, what followed from
/// decisions is not.
///
/// Conditions, uses, submissions of clients, triggers, sleep and the clocks come as they were recorded.
/// Launches, what handlers submitted in them, put-backs and scheduled requests follow again from the rules
/// that are tried.
public struct RecordedWorld: Sendable {
    /// What is changed.
    public struct Changes: Sendable {
        /// Numbers in place of the recorded ones; `nil` keeps those.
        public var settings: SchedulerSettings?
        /// Manifests in place of the recorded ones; `nil` keeps those.
        public var manifests: [Manifest]?

        /// Changes nothing.
        public init() {}
    }

    private let segments: [RecordedSegment]

    /// Takes a log, oldest segment first.
    public init(_ segments: [RecordedSegment]) { self.segments = segments.filter { !$0.entries.isEmpty } }

    /// Runs the world under other rules.
    ///
    /// - Parameters:
    ///   - changes: What is tried.
    ///   - detail: How closely waits are looked at.
    ///   - findDate: The calendar, for dates that the log does not have.
    /// - Returns: What it came to; `nil` for a log without a line.
    public func run(
        _ changes: Changes = Changes(), detail: Tally.Detail = .waits,
        findDate: @escaping VirtualHost.DateFinder = { _, _, _ in nil }
    ) -> Tally? {
        guard let first = segments.first?.entries.first else { return nil }
        let dates = RecordedDates(segments)
        var host = VirtualHost(at: first.at, model: RecordedLaunches(segments), detail: detail) {
            dates.find($0, $1, $2) ?? findDate($0, $1, $2)
        }
        for (index, segment) in segments.enumerated() {
            let isFirst = index == 0
            if !isFirst, !segment.header.isContinued, let start = segment.entries.first {
                host.restart(at: start.at)
            }
            play(
                segment, into: &host, changes, isFresh: isFirst || !segment.header.isContinued,
                isFirst: isFirst)
        }
        return host.tally
    }

    private func play(
        _ segment: RecordedSegment, into host: inout VirtualHost, _ changes: Changes, isFresh: Bool,
        isFirst: Bool
    ) {
        var isStarted = false
        var identifiers: [RequestID: TaskIdentifier] = [:]
        var launched: [LaunchID: TaskIdentifier] = [:]
        for (index, entry) in segment.entries.enumerated() {
            if case .submitted(let request) = entry.event { identifiers[request.id] = request.identifier }
            if case .launchStarted(let id, let request) = entry.event { launched[id] = identifiers[request] }
            guard isStarted else {
                if entry.event == .started {
                    isStarted = true
                    if isFresh { host.start() }
                } else if let event = entry.event, isFresh {
                    tellBeforeStart(event, to: &host, changes, isFirst: isFirst)
                }
                continue
            }
            // Up to this line the machine's own clocks run; then they read what they read.
            host.add(.clocks(entry.at), at: entry.at.boot)
            for occurrence in occurrences(entry, index, segment, changes, identifiers, launched) {
                host.add(occurrence, at: entry.at.boot)
            }
            host.run(until: entry.at.boot)
        }
    }

    private func tellBeforeStart(
        _ event: SchedulerEvent, to host: inout VirtualHost, _ changes: Changes, isFirst: Bool
    ) {
        switch event {
        case .settingsChanged(let settings): host.tell(.settingsChanged(changes.settings ?? settings))
        case .handlersChanged(let manifests): host.tell(.handlersChanged(changes.manifests ?? manifests))
        // What the store of the host that is tried holds is its own after a restart.
        case .submitted, .bundleRestored, .lastLaunched: if isFirst { host.tell(event) }
        default: host.tell(event)
        }
    }

    private func occurrences(
        _ entry: RecordedEntry, _ index: Int, _ segment: RecordedSegment, _ changes: Changes,
        _ identifiers: [RequestID: TaskIdentifier], _ launched: [LaunchID: TaskIdentifier]
    ) -> [Occurrence] {
        switch entry.occurrence {
        case .willSleep:
            let woken = segment.entries[index...].first { $0.occurrence == .hasWoken }
            return woken.map { [.sleep(until: $0.at.boot)] } ?? []
        case .hasWoken: return []
        case .event(let event): return occurrences(event, changes, identifiers, launched)
        }
    }

    private func occurrences(
        _ event: SchedulerEvent, _ changes: Changes, _ identifiers: [RequestID: TaskIdentifier],
        _ launched: [LaunchID: TaskIdentifier]
    ) -> [Occurrence] {
        switch event {
        case .settingsChanged: changes.settings == nil ? [.event(event)] : []
        case .handlersChanged: changes.manifests == nil ? [.event(event)] : []
        case .conditionsChanged, .localTimeChanged, .used, .dismissed, .refreshSwitched, .budgetChanged,
            .foregroundChanged, .scheduleTriggered:
            [.event(event)]
        case .submitted(let request):
            request.submission.origin == .client || request.submission.origin == .simulated
                ? [.submit(request.submission)] : []
        case .withdrawn(let id): identifiers[id].map { [.withdraw($0)] } ?? []
        case .simulate(let id): identifiers[id].map { [.simulate($0)] } ?? []
        // Sleep is told by itself; what a user stopped stays stopped.
        case .expireRequested(let id, let reason):
            reason == .systemSleep ? [] : launched[id].map { [.stop($0, reason)] } ?? []
        case .answered(let id, false): launched[id].map { [.stop($0, .cancelledByUser)] } ?? []
        case .started, .lastLaunched, .bundleRestored, .scheduleNotStored, .scheduleDated, .launchStarted,
            .launchNotStarted, .launchReady, .progressed, .launchActive, .cpuMeasured, .answered,
            .tracingChanged, .launchExpiring, .launchEnded, .timePassed, .shutdown:
            []
        }
    }
}

/// The calendar's answers in a log, so that a replay does not depend on this machine's zones.
private struct RecordedDates: Sendable {
    private struct Question: Hashable {
        var expression: String
        var zone: String?
        var after: WallTime
    }

    private var answers: [Question: WallTime] = [:]

    init(_ segments: [RecordedSegment]) {
        var timings: [TaskIdentifier: (String, String?)] = [:]
        for entry in segments.lazy.flatMap(\.entries) {
            switch entry.event {
            case .handlersChanged(let manifests):
                for task in manifests.lazy.flatMap(\.tasks) {
                    if case .calendar(let expression, let zone) = task.schedule?.timing {
                        timings[task.pattern.base] = (expression, zone)
                    }
                }
            case .scheduleDated(let identifier, let after, let next):
                if let (expression, zone) = timings[identifier], let next {
                    answers[Question(expression: expression, zone: zone, after: after)] = next
                }
            default: break
            }
        }
    }

    /// The date that a log has for this very question.
    func find(_ expression: String, _ zone: String?, _ after: WallTime) -> WallTime? {
        answers[Question(expression: expression, zone: zone, after: after)]
    }
}
