import LinuxSystem
import Synchronization

/// Stores the error of a callback that can't throw, until the caller checks for it.
final class Publication: Sendable {
    private let failure = Mutex<SystemCallError?>(nil)

    func fail(_ error: SystemCallError) {
        failure.withLock { $0 = error }
    }

    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
