import Synchronization

/// The launches that are measured in one second.
///
/// Workers take them one after the other. A process whose threads change its memory all the time can hold up
/// who reads `/proc/PID/smaps_rollup` for minutes; another worker then goes on with the others.
final class SurveyRound: Sendable {
    /// What a worker measures.
    struct Look: Sendable {
        let launch: RunningLaunch
        let survey: LaunchSurvey
        let aims: LaunchSurvey.Aims
    }

    private struct State {
        var waiting: [Look]
        /// How many workers have not returned.
        var workers = 0
    }

    private let state: Mutex<State>

    init(_ looks: [Look]) { state = Mutex(State(waiting: looks.reversed())) }

    /// Whether no worker has begun with some of the launches.
    var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Whether every launch was measured, and no worker is held up.
    var hasEnded: Bool { state.withLock { $0.waiting.isEmpty && $0.workers == 0 } }

    /// Measures launches until none waits; blocks the calling thread.
    ///
    /// - Parameter now: The present time on CLOCK_MONOTONIC.
    /// - Returns: What was found, without a finding for launches with very many processes.
    func work(at now: () -> Duration) -> [(look: Look, finding: LaunchSurvey.Finding?)] {
        state.withLock { $0.workers += 1 }
        defer { state.withLock { $0.workers -= 1 } }
        var found: [(look: Look, finding: LaunchSurvey.Finding?)] = []
        while let look = state.withLock({ $0.waiting.popLast() }) {
            look.survey.began.withLock { $0 = now() }
            found.append((look, look.survey.look(look.aims, few: LaunchSurvey.fewProcesses)))
            look.survey.began.withLock { $0 = nil }
        }
        return found
    }
}
