import LinuxSystem
import Synchronization

/// Carries a failure out of the callback that has no way to throw.
final class Publication: Sendable {
    private let failure = Mutex<SystemCallError?>(nil)

    func fail(_ error: SystemCallError) {
        failure.withLock { $0 = error }
    }

    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
