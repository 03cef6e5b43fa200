import Foundation
import Synchronization

/// The main thread after launching: timers, the main queue and the main actor, until the process may end.
enum MainLoop {
    private static let hasEnded = Mutex(false)

    /// Turns the main run loop until ``end()`` and the end of the last assertion.
    @MainActor
    static func runUntilEnded() {
        // A run loop without any source returns at once; this one never fires.
        RunLoop.main.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
        while !hasEnded.withLock({ $0 }) {
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
    }

    /// The task has completed: the process ends once no assertion is open, and no later than the allowance says.
    static func end() {
        AssertionBook.shared.count(App.shared.host.assertionAllowance) {
            hasEnded.withLock { $0 = true }
            // Wakes the loop.
            DispatchQueue.main.async {}
        }
    }
}
