import Foundation
import Synchronization

/// The main thread after launching: timers, the main queue and the main actor, until the process may end.
enum MainLoop {
    private static let hasEnded = Mutex(false)

    /// Turns the main run loop until ``end()``, the end of the last assertion and a quiet spell.
    ///
    /// Then it writes what `UserDefaults` still holds in memory.
    @MainActor
    static func runUntilEnded() {
        // A run loop without any source returns at once; this one never fires.
        RunLoop.main.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
        while !hasEnded.withLock({ $0 }) {
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
        awaitQuiet()
        writeDefaults()
    }

    /// Goes on until the app's code has come to rest: what it submits after its task has completed arrives.
    @MainActor
    private static func awaitQuiet() {
        let host = App.shared.host
        var look = ProcessLook(horizon: QuietSpell.long)
        var spell = QuietSpell(at: DispatchTime.now().uptimeNanoseconds)
        while !spell.mayEnd(look.take(), isAsking: host.isAsking, at: DispatchTime.now().uptimeNanoseconds) {
            // A nap, and a turn that does not wait: to wait in the loop would arm a timer, and wake
            // dispatch's own threads, which the look could not tell from the app's.
            usleep(lookInterval)
            _ = RunLoop.main.run(mode: .default, before: .distantPast)
        }
    }

    /// Microseconds between two looks; one takes 50 to 300.
    private static let lookInterval: UInt32 = 1000

    /// Writes the defaults of every suite that was changed.
    ///
    /// By CoreFoundation's own function: `UserDefaults.standard` would be made only to be written, which
    /// takes 0.6 ms.
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

    /// The task has completed: the process ends once no assertion is open, and no later than the allowance
    /// says.
    static func end() {
        AssertionBook.shared.count(App.shared.host.assertionAllowance) {
            hasEnded.withLock { $0 = true }
            // Wakes the loop.
            DispatchQueue.main.async {}
        }
    }
}
