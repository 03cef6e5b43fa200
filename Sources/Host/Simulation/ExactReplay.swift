public import Recording
import Scheduling
public import TaskModel

/// A replay of a log: the scheduler gets the same events that the recording host's scheduler got.
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
        func differ(_ at: Moment, _ finding: String) {
            differences.append(Difference(segment: segment.path, at: at.wall, finding: finding))
        }
        for entry in segment.entries {
            guard let event = entry.event else { continue }
            switch event {
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
            if entry.at != newest { tally.noteWaits(at: newest, scheduler) }
            newest = entry.at
            tally.note(event, at: entry.at)
            for action in scheduler.handle(event, at: entry.at) {
                switch action {
                case .launch(let id, _, _, _): ordered[id] = entry.at.wall
                case .expire(let id, let reason, _): tally.noteExpiration(of: id, reason)
                default: break
                }
            }
        }
        tally.noteWaits(at: newest, scheduler)
        tally.settle(at: last.at, scheduler)
        // The host records a launch shortly after the order, so the log may end before the last launches.
        for (id, at) in ordered.sorted(by: { $0.key < $1.key }) where last.at.wall - at > .seconds(60) {
            differences.append(
                Difference(
                    segment: segment.path, at: at,
                    finding: "the replay launches \(id), and the host did not"))
        }
    }
}
