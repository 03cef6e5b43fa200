import Scheduling
import TaskModel

/// The requests whose attempts the machine's conditions stopped soon after their start, several times in a
/// row.
///
/// A condition that comes and goes would otherwise start and stop a request with each change. So from the
/// second such attempt in a row on, the request waits for a dwell, which doubles each time. The count is kept
/// in memory only: after a restart of the host, it begins again.
struct FlapBook: Sendable {
    /// An attempt that ran longer than this does not count: 60 s.
    ///
    /// Our choice: the work of a minute is worth its start, and a condition that changes less often than once
    /// a minute costs little.
    static let shortRun = Duration.seconds(60)
    /// An attempt that ran at least this long does not count if it brought a new checkpoint or progress: 10
    /// s.
    ///
    /// Our choice: a handler can save a checkpoint in its first millisecond, and do so in each attempt. But
    /// if it got further in 10 s of work, starting it again was not in vain.
    static let leastUsefulRun = Duration.seconds(10)
    /// The longest dwell: 10 min.
    ///
    /// Our choice: a condition that became stable should not keep a request waiting for an hour.
    static let longestDwell = Duration.seconds(600)
    /// The time after which an attempt is forgotten: 1 h, so that two attempts of different days are no row.
    private static let memory = Duration.seconds(3600)
    /// The number of requests from which on old entries are removed.
    private static let manyRequests = 1000

    private struct Entry {
        var attempts = 0
        /// When the newest attempt ended, on CLOCK_BOOTTIME.
        var at: Duration
    }

    private var entries: [RequestID: Entry] = [:]

    /// Whether an attempt that conditions stopped counts.
    ///
    /// - Parameters:
    ///   - runTime: How long the attempt ran.
    ///   - gotFurther: Whether it brought a new checkpoint, or got further than all attempts before it.
    /// - Returns: Whether it was too short to be worth its start.
    static func counts(runTime: Duration, gotFurther: Bool) -> Bool {
        runTime < (gotFurther ? leastUsefulRun : shortRun)
    }

    /// Counts an attempt that conditions stopped soon after its start; `boot` is its end.
    mutating func note(_ request: RequestID, at boot: Duration) {
        if entries.count >= Self.manyRequests {
            entries = entries.filter { boot - $0.value.at < Self.memory }
        }
        var entry = entries[request] ?? Entry(at: boot)
        entry.attempts = boot - entry.at < Self.memory ? entry.attempts + 1 : 1
        entry.at = boot
        entries[request] = entry
    }

    /// Forgets a request, because it has ended or an attempt ran longer.
    mutating func forget(_ request: RequestID) { entries[request] = nil }

    /// How long the next attempt of a request waits; zero for most.
    func dwell(of request: RequestID, _ settings: SchedulerSettings) -> Duration {
        guard let attempts = entries[request]?.attempts, attempts > 1 else { return .zero }
        return min(settings.backOff(afterAttempts: attempts - 1, of: request), Self.longestDwell)
    }
}
