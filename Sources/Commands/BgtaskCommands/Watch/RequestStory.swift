import Calendars
import ControlWire
import TaskModel

/// Turns the events of one request into lines for people, until the last attempt has ended.
///
/// This value has neither clock nor terminal: `RequestWatch` passes it the events and shows the lines.
struct RequestStory {
    /// How the request ended, for the user who waits.
    enum End: Equatable {
        /// The last attempt ended.
        case ended(LaunchMessage)
        /// An attempt ended, and the request is pending again for the next one; only if the user waits for
        /// one attempt.
        case putBack(LaunchMessage, RequestMessage)
        /// The request was cancelled before its first attempt or between two attempts.
        case cancelled(Reason)
        /// A newer request of the same identifier replaced this one; `nil` if the newer one's number is not
        /// known.
        case replaced(by: RequestID?)
        /// The host is stopping; the request stays stored.
        case hostStopping
    }

    /// The shortest time between two lines about progress, unless the progress has reached another tenth.
    ///
    /// It also applies to lines about titles.
    static let pace = Duration.seconds(10)

    /// The request to follow.
    let request: RequestID
    /// Whether progress and titles become lines; on a terminal, the progress bar shows them instead.
    let showsProgress: Bool
    /// Whether the user waits only for the end of one attempt.
    let isOneAttempt: Bool
    /// The number of failed attempts after which the host gives up; `nil` if there is none, or it is not
    /// known.
    var retryAttempts: Int?
    /// The dates in the lines.
    var times = LocalTimes(zone: .utc)
    /// The newest launch of the request; `nil` before the first.
    private(set) var launch: LaunchMessage?
    /// The newest progress of that launch.
    private(set) var progress: ProgressMessage?
    /// How the request ended; `nil` until then.
    ///
    /// Later events change nothing.
    private(set) var end: End?

    /// What the user sees of the launch: its title, then its subtitle; empty if it has none.
    private(set) var title = ""
    private var shownProgress: (message: ProgressMessage, at: WallTime)?
    private var shownTitle: String?
    private var titleShownAt: WallTime?
    private var shownBlocking: [String] = []

    init(request: RequestID, showsProgress: Bool = true, isOneAttempt: Bool = false) {
        self.request = request
        self.showsProgress = showsProgress
        self.isOneAttempt = isOneAttempt
    }

    /// Whether an attempt runs now.
    var isRunning: Bool { launch?.endedAt == nil && launch != nil }

    /// Handles an event and returns the new lines.
    mutating func take(_ event: HostEventMessage, now: WallTime) -> [String] {
        guard end == nil else { return [] }
        switch event {
        case .launchStarted(let started) where started.request == request:
            // The command that started the launch itself has told of it before the event comes.
            return started.launch == launch?.launch ? [] : begin(started)
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
                "\(id): \(rationale.rationale.statement). Let it continue with 'bgtask answer \(id) yes', or "
                    + "stop it with 'bgtask answer \(id) no'. Without an answer, it goes on until a limit on "
                    + "its progress ends it"
            ]
        case .launchExpiring(let id, request, let reason):
            return ["The host asked \(id) to stop: \(reason.rawValue)"]
        case .launchEnded(let ended, let putBack) where ended.request == request:
            return finish(ended, putBack: putBack)
        case .requestCancelled(request, _, .replaced):
            return replace(by: nil)
        case .requestCancelled(request, _, let reason):
            end = .cancelled(reason)
            return reason.outcomeWhilePending == .failed
                ? ["\(request) failed (\(reason.rawValue))"]
                : ["\(request) is cancelled: \(reason.rawValue)"]
        case .hostStopping:
            end = .hostStopping
            return []
        case .output(let line) where line.launch == launch?.launch:
            return Self.output(line).map { [$0] } ?? []
        case .launchStarted, .launchReady, .progress, .titleChanged, .launchAsked, .launchExpiring,
            .launchEnded, .requestCancelled, .requestAccepted, .requestBlocked, .transferChanged,
            .transferEnded, .output,
            .unknown:
            return []
        }
    }

    /// A line that the handler printed, or logged at the level info or above; indented, so that the lines of
    /// this command stand out.
    private static func output(_ line: LogLineMessage) -> String? {
        switch line.source {
        case .standardOutput, .standardError: "  \(line.message)"
        case .handler where line.level == .debug: nil
        case .handler where line.level <= .notice: "  \(line.message)"
        case .handler: "  \(line.level.rawValue): \(line.message)"
        case .host: nil
        }
    }

    /// Handles a launch that began before the first event.
    mutating func begin(_ started: LaunchMessage) -> [String] {
        launch = started
        progress = started.progress
        title = Self.title(started.title, started.subtitle)
        (shownProgress, shownTitle, titleShownAt) = (nil, nil, nil)
        return ["\(started.launch) has started (attempt \(started.attempt), \(started.isolation))"]
            + showTitle(now: nil)
    }

    /// Handles the end of an attempt.
    ///
    /// The last title and progress come before it, unless a line has shown them.
    mutating func finish(_ ended: LaunchMessage, putBack: RequestMessage?) -> [String] {
        launch = ended
        progress = ended.progress ?? progress
        let last = Self.title(ended.title, ended.subtitle)
        if !last.isEmpty { title = last }
        let at = ended.endedAt?.time ?? ended.startedAt.time
        var lines = showTitle(now: at) + showProgress(now: at)
        lines.append(Self.sentence(of: ended))
        if let putBack, isOneAttempt {
            lines += next(after: ended, putBack, at: at)
            end = .putBack(ended, putBack)
        } else if let putBack {
            let start =
                putBack.earliestStart(after: at).map { ", and may start \(Wording.relative($0, to: at))" }
                ?? ""
            lines.append("\(request) is pending again (attempt \(putBack.attempt))\(start)")
        } else {
            end = .ended(ended)
            lines += Self.advice(after: ended)
        }
        return lines
    }

    /// The command that shows more about a launch that did not succeed.
    private static func advice(after ended: LaunchMessage) -> [String] {
        switch ended.outcome {
        case .crashed, .killed: ["To see how it ended: bgtask report \(ended.launch)"]
        case .failed, .expired, .lost: ["To see its log: bgtask show \(ended.launch)"]
        case .succeeded, .cancelled, nil: []
        }
    }

    /// Returns what follows an attempt, for a user who does not wait for it.
    private func next(after ended: LaunchMessage, _ putBack: RequestMessage, at time: WallTime) -> [String] {
        let isFailure = ended.outcome == .failed || ended.outcome == .crashed
        let limit = retryAttempts.map { isFailure ? " ('retry' gives up after \($0) failures)" : "" } ?? ""
        let outcome =
            switch ended.outcome {
            case .failed: "failed"
            case .crashed: "crashed"
            default: "has ended"
            }
        let start =
            putBack.earliestStart(after: time)
            .map { "starts \(Wording.relative($0, to: time)) at the earliest, at \(times.date($0))" }
            ?? "starts as soon as the conditions permit it"
        return [
            "Attempt \(ended.attempt) \(outcome)\(limit); the next one \(start)",
            "To follow it: bgtask logs -f --identifier \(putBack.identifier)",
            "To give it up: bgtask cancel \(request)",
        ]
    }

    /// Handles the end of a request that a newer one replaced.
    ///
    /// - Parameter successor: The newer request; `nil` if its number is not known.
    /// - Returns: The line that says so.
    mutating func replace(by successor: RequestID?) -> [String] {
        end = .replaced(by: successor)
        return ["\(request) was replaced by \(successor.map(\.description) ?? "a newer request")"]
    }

    /// Returns lines for the newest title and progress, if no line has shown them and ``pace`` has passed.
    mutating func overdue(now: WallTime) -> [String] {
        guard isRunning else { return [] }
        var lines: [String] = []
        if let at = titleShownAt, now - at >= Self.pace { lines += showTitle(now: now) }
        if let at = shownProgress?.at, now - at >= Self.pace { lines += showProgress(now: now) }
        return lines
    }

    /// The policies that also apply to `bgtask launch` (Documentation/ControlAPI.md).
    private static let alwaysApply: Set = [
        "Permission", "SystemSleep", "OneLaunchPerIdentifier", "Conflicts",
    ]

    /// Returns lines with the reasons that keep the request from starting, and, unless the host would refuse
    /// it, with the command that starts it anyway; empty if an earlier call returned the same.
    mutating func block(_ verdicts: [VerdictMessage], identifier: TaskIdentifier, now: WallTime) -> [String] {
        guard end == nil, !isRunning else { return [] }
        let blocking = Wording.blocking(verdicts, now: now)
        guard !blocking.isEmpty, blocking != shownBlocking else { return [] }
        shownBlocking = blocking
        let lines = blocking.map { "\(request) waits: \(times.text($0))" }
        if verdicts.contains(where: { $0.decision != .proceed && Self.alwaysApply.contains($0.policy) }) {
            return lines
        }
        return lines + ["To start it now, whatever the conditions are: bgtask launch \(identifier)"]
    }

    /// The end of a launch as `L42 succeeded after 1.2 s, 812 ms CPU`.
    static func sentence(of ended: LaunchMessage) -> String {
        var text = "\(ended.launch) \(ended.outcome?.rawValue ?? "ended")"
        if let reason = ended.reason { text += " (\(reason.rawValue))" }
        text += " after \(ended.elapsed(at: ended.endedAt?.time ?? ended.startedAt.time)), \(ended.cpu) CPU"
        if let message = ended.message, !message.isEmpty { text += ": \(message)" }
        return text
    }

    /// Title and subtitle as `Exporting: 7 of 12`.
    private static func title(_ title: String?, _ subtitle: String?) -> String {
        [title, subtitle].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
    }

    /// Returns a line for the title, unless a line has shown it.
    ///
    /// If `now` is `nil`, the next title need not wait.
    private mutating func showTitle(now: WallTime?) -> [String] {
        guard showsProgress, !title.isEmpty, title != shownTitle else { return [] }
        (shownTitle, titleShownAt) = (title, now)
        return [title]
    }

    /// Returns a line for the progress, unless a line has shown it.
    private mutating func showProgress(now: WallTime) -> [String] {
        guard showsProgress, let progress, progress != shownProgress?.message else { return [] }
        shownProgress = (progress, now)
        return [Wording.progress(progress)]
    }

    /// Whether the message is the first progress, or has reached a higher tenth of the total than the last
    /// line.
    private func reachesTenth(_ message: ProgressMessage) -> Bool {
        guard let shown = shownProgress?.message else { return true }
        guard let fraction = message.progress.fraction else { return false }
        return Int(fraction * 10) > (shown.progress.fraction.map { Int($0 * 10) } ?? 0)
    }
}

extension RequestMessage {
    /// The earliest time of the next launch, if it is after a time: the end of its back-off, or the date of
    /// its schedule or of its submission.
    fileprivate func earliestStart(after time: WallTime) -> Timestamp? {
        [notBefore, earliestBeginDate].compactMap(\.self).filter { $0.time > time }.max { $0.time < $1.time }
    }
}
