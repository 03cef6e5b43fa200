import Dispatch
import LinuxSystem
import Synchronization
import TaskModel

/// Reads the memory maps of processes that may hold up their readers; ``MapPatience`` decides how long the
/// event loop waits.
///
/// The loop waits at all because a map must be read before its process is killed or may end.
final class PatientMaps: Sendable {
    private let moments: any MomentSource
    private let patience = Mutex(MapPatience())

    init(moments: any MomentSource) {
        self.moments = moments
    }

    /// A map, or that it did not come in time or was not read.
    enum Answer {
        case map(CodeMap?)
        case missing
    }

    /// Reads the map on a thread of its own, and waits for a short time; called on the event loop.
    ///
    /// - Parameters:
    ///   - process: The process.
    ///   - bundle: The bundle of its launch.
    ///   - look: Reads the map; blocks the calling thread.
    /// - Returns: The map, unless it did not come in time.
    func read(
        _ process: Int32, of bundle: String,
        by look: @escaping @Sendable (Int32) -> CodeMap? = { CodeMap(of: $0) }
    ) -> Answer {
        let begin = moments.now().monotonic
        guard let longest = patience.withLock({ $0.begin(bundle, at: begin) }) else { return .missing }
        let found = Found()
        // A queue of its own: a thread that is held up must not keep others from working.
        DispatchQueue(label: "bgtask.map", qos: .userInitiated).async { [self] in
            let map = look(process)
            patience.withLock { $0.end() }
            found.map.withLock { $0 = map }
            found.signal.signal()
        }
        let wait = DispatchTimeInterval.nanoseconds(Int(longest.wholeNanoseconds))
        guard found.signal.wait(timeout: .now() + wait) == .success else {
            let end = moments.now().monotonic
            patience.withLock { $0.wasLate(bundle, at: end) }
            return .missing
        }
        return .map(found.map.withLock(\.self))
    }

    private final class Found: Sendable {
        let map = Mutex<CodeMap?>(nil)
        let signal = DispatchSemaphore(value: 0)
    }
}
