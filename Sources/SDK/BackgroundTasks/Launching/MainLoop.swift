import Foundation
import Synchronization

/// The main thread after launching: it runs timers, the main queue and the main actor until the process may
/// end.
enum MainLoop {
    private static let hasEnded = Mutex(false)

    /// Runs the main run loop until ``end()`` was called, no assertion is open, and the process has been
    /// quiet for some time.
    ///
    /// Then it saves changes of `UserDefaults`.
    @MainActor
    static func runUntilEnded() {
        // A run loop without any source returns immediately; this timer never fires.
        RunLoop.main.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
        while !hasEnded.withLock({ $0 }) {
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
        awaitQuiet()
        writeDefaults()
    }

    /// Waits until the app's code is inactive, so that requests that it submits after completion reach the
    /// host.
    @MainActor
    private static func awaitQuiet() {
        let host = App.shared.host
        var look = ProcessLook(horizon: QuietSpell.long)
        var spell = QuietSpell(at: DispatchTime.now().uptimeNanoseconds)
        func isAsking() -> Bool { host.isAsking || SessionEvents.isHandingOver }
        while !spell.mayEnd(look.take(), isAsking: isAsking(), at: DispatchTime.now().uptimeNanoseconds) {
            // Sleep, then run the loop without waiting. Waiting in the loop would arm a timer and wake
            // threads of Dispatch, and ProcessLook could not distinguish those from threads of the app.
            usleep(lookInterval)
            _ = RunLoop.main.run(mode: .default, before: .distantPast)
        }
    }

    /// Microseconds between two looks at the process; one look takes 50 to 300 microseconds.
    private static let lookInterval: UInt32 = 1000

    /// Saves the changed `UserDefaults` of all suites.
    ///
    /// It calls CoreFoundation's function directly, because creating `UserDefaults.standard` only for this
    /// would take 0.6 ms.
    private static func writeDefaults() {
        typealias Synchronize = @convention(c) (UnsafeRawPointer) -> UInt8
        guard let function = dlsym(nil, "CFPreferencesAppSynchronize"),
            let application = dlsym(nil, "kCFPreferencesCurrentApplication")
        else {
            UserDefaults.standard.synchronize()
            return
        }
        let name = application.assumingMemoryBound(to: UnsafeRawPointer.self).pointee
        _ = unsafeBitCast(function, to: Synchronize.self)(name)
    }

    /// Ends the process as soon as no assertion is open, and at the end of the assertion allowance at the
    /// latest.
    static func end() {
        AssertionBook.shared.count(App.shared.host.assertionAllowance) {
            hasEnded.withLock { $0 = true }
            // The empty block wakes the loop.
            DispatchQueue.main.async {}
        }
    }
}
