import ControlWire
import TaskModel

/// What the events say of one request, as lines for people, until its last attempt has ended.
///
/// A value without clock or terminal: `RequestWatch` feeds it and shows what comes back.
struct RequestStory {
    /// How it ended for the one who waits.
    enum End: Equatable {
        /// The last attempt ended.
        case ended(LaunchMessage)
        /// It was cancelled before an attempt started, or between two.
        case cancelled(Reason)
        /// The host stops; the request is stored.
        case hostStopping
    }

    /// The request that is followed.
    let request: RequestID
    /// Its newest launch; `nil` before the first.
    private(set) var launch: LaunchMessage?
    /// The newest progress of that launch.
    private(set) var progress: ProgressMessage?
    /// Set once; events after it change nothing.
    private(set) var end: End?

    /// What the user should see of it: the title, then the subtitle; empty if it has none.
    private(set) var title = ""
    private var progressToldAt: WallTime?
    private var titleToldAt: WallTime?
    private var blockingTold: [String] = []

    init(request: RequestID) {
        self.request = request
    }

    /// Whether an attempt runs now.
    var isRunning: Bool { launch?.endedAt == nil && launch != nil }

    /// Takes an event and says what is new in it.
    mutating func take(_ event: HostEventMessage, now: WallTime) -> [String] {
        guard end == nil else { return [] }
        switch event {
        case .launchStarted(let started) where started.request == request:
            return begin(started)
        case .launchReady(let id, request, _):
            return ["\(id) runs"]
        case .progress(_, request, let message):
            return advance(message, now: now)
        case .titleChanged(_, request, let title, let subtitle):
            return entitle(title, subtitle, now: now)
        case .launchAsked(let id, request, let rationale):
            return [
                "\(id): \(rationale.quantity) is \(rationale.observed). Keep going? No answer means yes: "
                    + "bgtask answer \(id) yes|no"
            ]
        case .launchExpiring(let id, request, let reason):
            return ["\(id) was told to stop: \(reason.rawValue)"]
        case .launchEnded(let ended, let putBack) where ended.request == request:
            return finish(ended, putBack: putBack)
        case .requestCancelled(request, _, let reason):
            end = .cancelled(reason)
            return ["\(request) is cancelled: \(reason.rawValue)"]
        case .hostStopping:
            end = .hostStopping
            return []
        case .launchStarted, .launchReady, .progress, .titleChanged, .launchAsked, .launchExpiring,
            .launchEnded,
            .requestCancelled,
            .requestAccepted, .requestBlocked, .unknown:
            return []
        }
    }

    /// Takes a launch that began before the events were followed.
    mutating func begin(_ started: LaunchMessage) -> [String] {
        launch = started
        progress = started.progress
        title = Self.title(started.title, started.subtitle)
        titleToldAt = nil
        progressToldAt = nil
        return ["\(started.launch) is started (attempt \(started.attempt), \(started.isolation))"]
    }

    /// Takes the end of an attempt.
    mutating func finish(_ ended: LaunchMessage, putBack: RequestMessage?) -> [String] {
        launch = ended
        progress = ended.progress ?? progress
        var lines = [Self.sentence(of: ended)]
        if let putBack {
            lines.append("\(request) is pending again (attempt \(putBack.attempt))")
        } else {
            end = .ended(ended)
        }
        return lines
    }

    /// What keeps it from starting, with the command that starts it all the same; empty if that was said already.
    mutating func block(_ verdicts: [VerdictMessage], identifier: TaskIdentifier, now: WallTime) -> [String] {
        guard end == nil, !isRunning else { return [] }
        let blocking = Wording.blocking(verdicts, now: now)
        guard !blocking.isEmpty, blocking != blockingTold else { return [] }
        blockingTold = blocking
        return blocking.map { "\(request) waits: \($0)" }
            + ["Start it now, whatever the conditions are: bgtask launch \(identifier)"]
    }

    /// `L42 succeeded after 1.2 s (0.8 s CPU)`.
    static func sentence(of ended: LaunchMessage) -> String {
        var text = "\(ended.launch) \(ended.outcome?.rawValue ?? "ended")"
        if let reason = ended.reason { text += " (\(reason.rawValue))" }
        text += " after \(ended.elapsed(at: ended.endedAt?.time ?? ended.startedAt.time)), \(ended.cpu) CPU"
        if let message = ended.message, !message.isEmpty { text += ": \(message)" }
        return text
    }

    /// `Exporting: 7 of 12`.
    private static func title(_ title: String?, _ subtitle: String?) -> String {
        [title, subtitle].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
    }

    /// At most one line a second, as progress.
    private mutating func entitle(_ title: String, _ subtitle: String, now: WallTime) -> [String] {
        self.title = Self.title(title, subtitle)
        if self.title.isEmpty { return [] }
        if let told = titleToldAt, now - told < .seconds(1) { return [] }
        titleToldAt = now
        return [self.title]
    }

    /// At most one line a second, so that a log stays readable; a new message or the last unit is always told.
    private mutating func advance(_ message: ProgressMessage, now: WallTime) -> [String] {
        let isNews =
            message.message != progress?.message || (message.total > 0 && message.completed == message.total)
        progress = message
        if let told = progressToldAt, now - told < .seconds(1), !isNews { return [] }
        progressToldAt = now
        return [Wording.progress(message)]
    }
}
