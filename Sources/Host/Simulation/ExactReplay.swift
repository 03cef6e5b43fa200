public import Recording
import Scheduling
public import TaskModel

/// A replay of a log: the scheduler gets the same events that the recording host's scheduler got.
///
/// Behind a line that is damaged or missing, the scheduler can't know all that the host's knew. Until the
/// next segment, its launches therefore follow those of the recording, and are not compared with them.
public struct ExactReplay: Sendable {
    /// A launch that only the scheduler decides now, or that only the host made.
    public struct Difference: Equatable, Sendable {
        /// The path of the segment.
        public var segment: String
        /// When the difference occurred.
        public var at: WallTime
        /// What differs, as a sentence.
        public var finding: String
    }

    /// The launches and waits of the replay.
    public private(set) var tally: Tally
    /// The differences; empty if the replay has the same launches as the recording.
    public private(set) var differences: [Difference] = []
    /// The time from the first to the last line; `nil` if there are no lines.
    public private(set) var period: ClosedRange<WallTime>?

    /// Replays segments; the oldest must come first.
    public init(_ segments: [RecordedSegment], detail: Tally.Detail = .waits) {
        tally = Tally(detail: detail)
        for segment in segments { replay(segment) }
    }

    private mutating func replay(_ segment: RecordedSegment) {
        guard let first = segment.entries.first, let last = segment.entries.last else { return }
        if tally.events > 0, !segment.header.isContinued {
            tally.noteRestart(at: first.at.wall)
        }
        // The wall clock may have been set back.
        let start = min(period?.lowerBound ?? first.at.wall, first.at.wall, last.at.wall)
        period = start...max(period?.upperBound ?? start, first.at.wall, last.at.wall)
        var scheduler = Scheduler()
        var newest = first.at
        /// The launches that the scheduler ordered and that the log has not confirmed yet.
        var ordered: [RequestID: WallTime] = [:]
        var follower = Follower()
        func differ(_ at: Moment, _ finding: String) {
            differences.append(Difference(segment: segment.path, at: at.wall, finding: finding))
        }
        func take(_ event: SchedulerEvent, at moment: Moment) {
            tally.note(event, at: moment)
            for action in scheduler.handle(event, at: moment) {
                switch action {
                case .launch(let id, _, _, _): ordered[id] = moment.wall
                case .expire(let id, let reason, _): tally.noteExpiration(of: id, reason)
                default: break
                }
            }
        }
        for (index, entry) in segment.entries.enumerated() {
            guard let event = entry.event else { continue }
            if entry.at != newest { tally.noteWaits(at: newest, scheduler) }
            newest = entry.at
            let follows = segment.firstGap.map { index >= $0 } ?? false
            if follows {
                for missed in follower.missed(before: event, isOrdered: { ordered[$0] != nil }) {
                    take(missed, at: entry.at)
                }
            }
            follower.note(event)
            switch event {
            case .launchStarted(_, let request) where follows,
                .launchNotStarted(let request, _) where follows:
                ordered[request] = nil
            case .launchStarted(let id, let request):
                if ordered.removeValue(forKey: request) == nil {
                    differ(entry.at, "the host launched \(request) as \(id), and the replay does not")
                }
            case .launchNotStarted(let request, _):
                if ordered.removeValue(forKey: request) == nil {
                    differ(entry.at, "the host tried to launch \(request), and the replay does not")
                }
            default: break
            }
            take(event, at: entry.at)
            if follows {
                for refused in follower.refused(among: ordered, at: entry.at.wall) {
                    ordered[refused] = nil
                    take(.launchNotStarted(refused, retry: entry.at.wall + .seconds(3600)), at: entry.at)
                }
            }
        }
        tally.noteWaits(at: newest, scheduler)
        tally.settle(at: last.at, scheduler)
        if segment.firstGap != nil { return }
        // The host records a launch shortly after the order, so the log may end before the last launches.
        for (id, at) in ordered.sorted(by: { $0.key < $1.key }) where last.at.wall - at > .seconds(60) {
            differences.append(
                Difference(
                    segment: segment.path, at: at,
                    finding: "the replay launches \(id), and the host did not"))
        }
    }
}

/// Finds what a replay must add behind a gap, so that its launches are those of the recording.
private struct Follower {
    private var requests: [RequestID: TaskRequest] = [:]
    private var running: [TaskIdentifier: (launch: LaunchID, request: RequestID)] = [:]

    mutating func note(_ event: SchedulerEvent) {
        switch event {
        case .submitted(let request): requests[request.id] = request
        case .launchStarted(let id, let request):
            if let identifier = requests[request]?.identifier { running[identifier] = (id, request) }
        case .launchEnded(let id, let putBack, _):
            running = running.filter { $0.value.launch != id }
            if let putBack { requests[putBack.id] = putBack }
        default: break
        }
    }

    /// The events that must have come before this one: the end of the identifier's earlier launch, and
    /// something that let the request start.
    func missed(before event: SchedulerEvent, isOrdered: (RequestID) -> Bool) -> [SchedulerEvent] {
        // A schedule submits its next request only after the launch of the last one.
        if case .submitted(let next) = event, next.submission.origin == .schedule,
            let old = running[next.identifier], requests[old.request]?.submission.origin == .schedule
        {
            return [.launchEnded(old.launch, putBack: nil)]
        }
        guard case .launchStarted(let id, let request) = event,
            let identifier = requests[request]?.identifier
        else { return [] }
        var missed: [SchedulerEvent] = []
        if let old = running[identifier], old.launch != id {
            missed.append(.launchEnded(old.launch, putBack: old.request == request ? requests[request] : nil))
        }
        if !isOrdered(request) { missed.append(.simulate(request)) }
        return missed
    }

    /// The launches that the scheduler has ordered and the host has not made within a minute.
    func refused(among ordered: [RequestID: WallTime], at now: WallTime) -> [RequestID] {
        ordered.filter { now - $0.value > .seconds(60) }.keys.sorted()
    }
}
