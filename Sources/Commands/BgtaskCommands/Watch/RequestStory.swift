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
        /// A newer request of the same identifier took its place; `nil` where its number is not known.
        case replaced(by: RequestID?)
        /// The host stops; the request is stored.
        case hostStopping
    }

    /// Lines of progress that do not reach another tenth come so far apart; titles as well.
    static let pace = Duration.seconds(10)

    /// The request that is followed.
    let request: RequestID
    /// Whether progress and titles become lines; a terminal shows them in its bar instead.
    let showsProgress: Bool
    /// Its newest launch; `nil` before the first.
    private(set) var launch: LaunchMessage?
    /// The newest progress of that launch.
    private(set) var progress: ProgressMessage?
    /// Set once; events after it change nothing.
    private(set) var end: End?

    /// What the user should see of it: the title, then the subtitle; empty if it has none.
    private(set) var title = ""
    private var shownProgress: (message: ProgressMessage, at: WallTime)?
    private var shownTitle: String?
    private var titleShownAt: WallTime?
    private var shownBlocking: [String] = []

    init(request: RequestID, showsProgress: Bool = true) {
        self.request = request
        self.showsProgress = showsProgress
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
            progress = message
            return reachesTenth(message) ? showProgress(now: now) : overdue(now: now)
        case .titleChanged(_, request, let title, let subtitle):
            self.title = Self.title(title, subtitle)
            return titleShownAt == nil ? showTitle(now: now) : overdue(now: now)
        case .launchAsked(let id, request, let rationale):
            return [
                "\(id): \(rationale.rationale.statement). Should it keep going? No answer means yes: "
                    + "bgtask answer \(id) yes|no"
            ]
        case .launchExpiring(let id, request, let reason):
            return ["The host asked \(id) to stop: \(reason.rawValue)"]
        case .launchEnded(let ended, let putBack) where ended.request == request:
            return finish(ended, putBack: putBack)
        case .requestCancelled(request, _, .replaced):
            return replace(by: nil)
        case .requestCancelled(request, _, let reason):
            end = .cancelled(reason)
            return ["\(request) is cancelled: \(reason.rawValue)"]
        case .hostStopping:
            end = .hostStopping
            return []
        case .launchStarted, .launchReady, .progress, .titleChanged, .launchAsked, .launchExpiring,
            .launchEnded, .requestCancelled, .requestAccepted, .requestBlocked, .unknown:
            return []
        }
    }

    /// Takes a launch that began before the events were followed.
    mutating func begin(_ started: LaunchMessage) -> [String] {
        launch = started
        progress = started.progress
        title = Self.title(started.title, started.subtitle)
        (shownProgress, shownTitle, titleShownAt) = (nil, nil, nil)
        return ["\(started.launch) has started (attempt \(started.attempt), \(started.isolation))"]
            + showTitle(now: nil)
    }

    /// Takes the end of an attempt; its last title and progress come before it, if no line has shown them.
    mutating func finish(_ ended: LaunchMessage, putBack: RequestMessage?) -> [String] {
        launch = ended
        progress = ended.progress ?? progress
        let last = Self.title(ended.title, ended.subtitle)
        if !last.isEmpty { title = last }
        let at = ended.endedAt?.time ?? ended.startedAt.time
        var lines = showTitle(now: at) + showProgress(now: at)
        lines.append(Self.sentence(of: ended))
        if let putBack {
            lines.append("\(request) is pending again (attempt \(putBack.attempt))")
        } else {
            end = .ended(ended)
        }
        return lines
    }

    /// Takes the end of a request that a newer one has replaced.
    ///
    /// - Parameter successor: The newer request; `nil` where its number is not known.
    /// - Returns: The line that says so.
    mutating func replace(by successor: RequestID?) -> [String] {
        end = .replaced(by: successor)
        return ["\(request) was replaced by \(successor.map(\.description) ?? "a newer request")"]
    }

    /// Lines for a new title and new progress, each at least ``pace`` after its last line.
    mutating func overdue(now: WallTime) -> [String] {
        guard isRunning else { return [] }
        var lines: [String] = []
        if let at = titleShownAt, now - at >= Self.pace { lines += showTitle(now: now) }
        if let at = shownProgress?.at, now - at >= Self.pace { lines += showProgress(now: now) }
        return lines
    }

    /// What keeps it from starting, with the command that starts it all the same; empty if that was said
    /// already.
    mutating func block(_ verdicts: [VerdictMessage], identifier: TaskIdentifier, now: WallTime) -> [String] {
        guard end == nil, !isRunning else { return [] }
        let blocking = Wording.blocking(verdicts, now: now)
        guard !blocking.isEmpty, blocking != shownBlocking else { return [] }
        shownBlocking = blocking
        return blocking.map { "\(request) waits: \($0)" }
            + ["To start it now, whatever the conditions are: bgtask launch \(identifier)"]
    }

    /// `L42 succeeded after 1.2 s, 812 ms CPU`.
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

    /// The line of a title that no line has shown; without a time the next title does not wait for ``pace``.
    private mutating func showTitle(now: WallTime?) -> [String] {
        guard showsProgress, !title.isEmpty, title != shownTitle else { return [] }
        (shownTitle, titleShownAt) = (title, now)
        return [title]
    }

    /// The line of a progress that no line has shown.
    private mutating func showProgress(now: WallTime) -> [String] {
        guard showsProgress, let progress, progress != shownProgress?.message else { return [] }
        shownProgress = (progress, now)
        return [Wording.progress(progress)]
    }

    /// Whether it is the first progress, or a higher tenth of the whole than the last line had.
    private func reachesTenth(_ message: ProgressMessage) -> Bool {
        guard let shown = shownProgress?.message else { return true }
        guard let fraction = message.progress.fraction else { return false }
        return Int(fraction * 10) > (shown.progress.fraction.map { Int($0 * 10) } ?? 0)
    }
}
