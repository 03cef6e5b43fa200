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

    private let waiting: Mutex<[Look]>

    init(_ looks: [Look]) { waiting = Mutex(looks.reversed()) }

    /// Whether no worker has begun with some of the launches.
    var hasWaiting: Bool { waiting.withLock { !$0.isEmpty } }

    /// Measures launches until none waits; blocks the calling thread.
    ///
    /// - Returns: What was found, without a finding for launches with very many processes.
    func work() -> [(look: Look, finding: LaunchSurvey.Finding?)] {
        var found: [(look: Look, finding: LaunchSurvey.Finding?)] = []
        while let look = waiting.withLock({ $0.popLast() }) {
            found.append((look, look.survey.look(look.aims, few: LaunchSurvey.fewProcesses)))
        }
        return found
    }
}
