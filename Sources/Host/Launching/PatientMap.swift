import Dispatch
import LinuxSystem
import Synchronization

/// Reads the memory map of a process that may hold up its readers.
///
/// A process whose threads change its memory all the time holds its lock, and who reads `/proc/PID/maps`
/// waits for minutes.
enum PatientMap {
    /// The longest time for which the event loop waits for a map: 250 ms.
    ///
    /// Our choice; other maps are read in less than a millisecond.
    static let patience = DispatchTimeInterval.milliseconds(250)

    /// A map, or that it did not come in time.
    enum Answer {
        case map(CodeMap?)
        case tooLate
    }

    /// Reads the map on a thread of its own, and waits for a short time.
    ///
    /// - Parameters:
    ///   - process: The process.
    ///   - patience: The longest time to wait.
    ///   - look: Reads the map; blocks the calling thread.
    /// - Returns: The map, unless it did not come in time.
    static func read(
        _ process: Int32, within patience: DispatchTimeInterval = patience,
        by look: @escaping @Sendable (Int32) -> CodeMap? = { CodeMap(of: $0) }
    ) -> Answer {
        let found = Found()
        // A queue of its own: a thread that is held up must not keep others from working.
        DispatchQueue(label: "bgtask.map", qos: .userInitiated).async {
            let map = look(process)
            found.map.withLock { $0 = map }
            found.signal.signal()
        }
        guard found.signal.wait(timeout: .now() + patience) == .success else { return .tooLate }
        return .map(found.map.withLock(\.self))
    }

    private final class Found: Sendable {
        let map = Mutex<CodeMap?>(nil)
        let signal = DispatchSemaphore(value: 0)
    }
}
