import LinuxSystem
import Synchronization

/// A notice that the machine is about to sleep, or has woken.
public enum SleepNotice: Sendable {
    /// The machine will sleep when the delay is released, or after 5 s at the latest.
    case willSleep(SleepDelay)
    /// The machine has woken, and all sensors have been read again.
    case hasWoken
}

/// Delays a sleep of the machine, with a delay lock of logind.
///
/// The delay also ends when the last reference to this object is dropped.
public final class SleepDelay: Sendable {
    private let lock: Mutex<BusDescriptor?>

    init(_ lock: BusDescriptor?) { self.lock = Mutex(lock) }

    /// Lets the machine sleep; later calls do nothing.
    public func release() { lock.withLock { $0 = nil } }
}

/// Holds a delay lock of logind, and reports when the machine is about to sleep.
final class SleepInhibitor: BusClient {
    let service = "org.freedesktop.login1"
    let objects: [BusObject] = []
    let signals = [LogindSource.manager: ["PrepareForSleep"]]

    private struct State {
        var lock: BusDescriptor?
        weak var delay: SleepDelay?
        /// Whether logind has announced a sleep and not reported its end.
        var isPreparing = false
    }

    private let state = Mutex(State())
    private let listener = Mutex<(@Sendable (SleepNotice) -> Void)?>(nil)

    func validity(of state: BusServiceState) -> Duration? { nil }

    func listen(_ handler: @escaping @Sendable (SleepNotice) -> Void) { listener.withLock { $0 = handler } }

    /// Ends the present delay, if there is one, because its time is over.
    func releaseDelay() {
        let delay = state.withLock { state in
            let delay = state.delay
            state.delay = nil
            return delay
        }
        delay?.release()
    }

    func changed(_ new: BusServiceState, _ bus: any BusCaller) {
        // This is called when logind appears and when it ends. A logind that announced a sleep and then ended
        // will not report the end of that sleep, and neither will its successor.
        let hasLostSleep = state.withLock { state in
            defer { state = State() }
            return state.isPreparing
        }
        if case .present = new { takeLock(bus) }
        if hasLostSleep {
            let notify = listener.withLock { $0 }
            notify?(.hasWoken)
        }
    }

    func received(_ member: String, _ arguments: [BusValue], _ bus: any BusCaller) {
        guard let isBefore = arguments.first?.flag else { return }
        let notify = listener.withLock { $0 }
        if isBefore {
            let delay = state.withLock { state in
                let delay = SleepDelay(state.lock)
                state.lock = nil
                state.delay = delay
                state.isPreparing = true
                return delay
            }
            notify?(.willSleep(delay))
        } else {
            state.withLock { $0.isPreparing = false }
            releaseDelay()
            takeLock(bus)
            notify?(.hasWoken)
        }
    }

    private func takeLock(_ bus: any BusCaller) {
        let arguments = ["sleep", "bgtask", "Background tasks are being stopped", "delay"]
        bus.call(LogindSource.manager, "Inhibit", arguments) { [weak self] values in
            guard case .descriptor(let lock)? = values?.first else { return }
            self?.state.withLock { $0.lock = lock }
        }
    }
}
