/// Decides how long the event loop waits for the memory map of a process, over all launches.
///
/// A process whose threads change its memory all the time holds its lock, and who reads `/proc/PID/maps`
/// waits for minutes. Many such launches must not hold up the others. So after a map that did not come in
/// time, a bundle gets no more waits for a minute, and those of all other bundles are short. A report
/// without a map has addresses in place of the names of functions.
struct MapPatience: Sendable {
    /// The longest wait for a map: 250 ms.
    ///
    /// Our choice; other maps are read in less than a millisecond, but a machine can be busy.
    static let first = Duration.milliseconds(250)
    /// The longest wait while some map did not come in time during the last minute: 5 ms; our choice.
    static let later = Duration.milliseconds(5)
    /// How long a map that did not come in time counts: 1 min; our choice.
    static let memory = Duration.seconds(60)
    /// The greatest number of threads that read maps, or are held up by one: 8; our choice.
    static let mostReaders = 8

    private var readers = 0
    /// When a map of each bundle did not come in time, on CLOCK_MONOTONIC.
    private var late: [String: Duration] = [:]

    /// Begins to read a map.
    ///
    /// - Parameters:
    ///   - bundle: The bundle of the launch.
    ///   - time: The present time on CLOCK_MONOTONIC.
    /// - Returns: The longest time to wait; `nil` if the map is not read.
    mutating func begin(_ bundle: String, at time: Duration) -> Duration? {
        late = late.filter { time - $0.value < Self.memory }
        guard readers < Self.mostReaders, late[bundle] == nil else { return nil }
        readers += 1
        return late.isEmpty ? Self.first : Self.later
    }

    /// Notes that a map did not come in time; its reader still waits.
    mutating func wasLate(_ bundle: String, at time: Duration) {
        late[bundle] = time
    }

    /// Notes that a reader has ended, in time or later.
    mutating func end() {
        readers -= 1
    }
}
