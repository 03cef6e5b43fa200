import Foundation
import Synchronization

/// The main thread after launching: timers, the main queue and the main actor, until the process may end.
package enum MainLoop {
    private static let hasEnded = Mutex(false)

    /// Turns the main run loop until ``end()``.
    @MainActor
    static func runUntilEnded() {
        while !hasEnded.withLock({ $0 }) {
            // Comes back after each thing done; the distant date is for the loop without any source.
            if !RunLoop.main.run(mode: .default, before: .distantFuture) {
                RunLoop.main.add(Port(), forMode: .default)
            }
        }
    }

    /// Lets the loop end as soon as it comes back.
    package static func end() {
        hasEnded.withLock { $0 = true }
        DispatchQueue.main.async {}
    }

    /// Completes an app launch when it has had its time.
    @MainActor
    static func end(_ host: RunnerHost, afterQuiet seconds: Double) {
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) {
            host.complete(success: true, message: nil)
            end()
        }
    }
}
