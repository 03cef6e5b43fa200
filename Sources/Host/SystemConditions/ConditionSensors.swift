import LinuxSystem
import Synchronization
public import TaskModel

/// The machine's conditions: read from its sensors, or simulated one by one or altogether.
///
/// All methods may be called from any thread and return immediately. Values change on threads of
/// `LinuxSystem`, which end with this object. A change for the worse (the plug is pulled, a source vanishes)
/// counts immediately; one for the better must have lasted for ``dwell``, so that a loose cable starts
/// nothing and stops things once.
public final class ConditionSensors: Sendable {
    /// What the conditions begin as, and what ``clear()`` returns to.
    public enum Mode: String, Sendable, CaseIterable {
        /// The machine's own.
        case system
        /// Mains power, unmetered network, cool, idle; no sensor is read.
        case simulated
    }

    /// How long a change for the better must last.
    ///
    /// Longer than a plug bounces, shorter than a person waits; the number is ours.
    public static let dwell = Duration.seconds(2)
    /// How long the machine's sleep is held up at most: logind's own default (InhibitDelayMaxSec).
    public static let longestSleepDelay = Duration.seconds(5)

    private let state: Mutex<ConditionState>
    private let mode: Mode
    private let onProblem: @Sendable (String) -> Void
    private let moments: any MomentSource
    private let dwell: Duration
    private let alarm: WakeTimer?
    private let sleep: SleepInhibitor?
    private let sleepListeners = Mutex(SleepListeners())
    private let bus: Mutex<SystemBus?>
    private let watches = Mutex<[Int: any SensorWatch]>([:])
    /// What the custom conditions are, with the sensor of each.
    private let custom = Mutex<[String: (definition: CustomCondition, sensor: Int?)]>([:])

    /// Reads every sensor once and begins to watch them; waits up to a second for services of the system bus.
    ///
    /// - Parameters:
    ///   - mode: Where the conditions come from.
    ///   - sysfsRoot: `/sys`, or a directory in its shape for tests.
    ///   - busAddress: The system bus; by default `DBUS_SYSTEM_BUS_ADDRESS` or the standard socket.
    ///   - moments: The clock for ``ConditionRow/since`` and for what must last.
    ///   - onProblem: Told, on any thread, why the source of a custom condition has no value; once per
    ///     change.
    public convenience init(
        mode: Mode, sysfsRoot: String = "/sys", busAddress: String? = nil, moments: any MomentSource,
        onProblem: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        guard mode == .system else {
            self.init(mode: mode, sensors: [], moments: moments)
            return
        }
        let machine = MachineSensors(sysfsRoot: sysfsRoot)
        self.init(
            mode: mode, sensors: machine.sensors, moments: moments, dwell: Self.dwell,
            alarm: try? WakeTimer(),
            sleep: machine.sleep, bus: machine.joinBus(busAddress ?? BusAddress.system), onProblem: onProblem)
    }

    init(
        mode: Mode, sensors: [any Sensor], moments: any MomentSource, dwell: Duration = .zero,
        alarm: WakeTimer? = nil, sleep: SleepInhibitor? = nil, bus: SystemBus? = nil,
        onProblem: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.mode = mode
        self.onProblem = onProblem
        self.moments = moments
        self.dwell = dwell
        self.alarm = alarm
        self.sleep = sleep
        self.bus = Mutex(bus)
        state = Mutex(ConditionState(mode: mode, sensors: sensors, at: moments.now().wall))
        let numbers = state.withLock { $0.sensorNumbers }
        for number in numbers { watch(number) }
        for number in numbers { look(number, dwell: .zero) }
        sleep?.listen { [weak self] in self?.take($0) }
        if let wakes = alarm?.wakes {
            // Not structured: it ends with the alarm, when this object goes.
            Task { [weak self] in
                for await _ in wakes { self?.timePassed() }
            }
        }
    }

    deinit {
        alarm?.cancel()
        bus.withLock { $0?.cancel() }
        watches.withLock { $0.values.forEach { $0.cancel() } }
        state.withLock { $0.finish() }
        sleepListeners.withLock { $0.finish() }
    }

    /// The conditions now.
    public func snapshot() -> Conditions { state.withLock { $0.conditions } }

    /// Every condition with its value, source and time of change, in the order of `bgtask conditions`.
    public func rows() -> [ConditionRow] { state.withLock { $0.rows } }

    /// Puts the custom conditions into force, all of them; those that stay as they were keep value and age.
    ///
    /// One with a new source is unknown until that answers. Simulated hosts read no source: theirs begin
    /// *off*.
    public func define(_ definitions: [CustomCondition]) {
        let wanted = Dictionary(definitions.map { ($0.name, $0) }) { first, _ in first }
        custom.withLock { known in
            for (name, old) in known where wanted[name] != old.definition {
                if let watch = old.sensor.flatMap({ number in
                    watches.withLock { $0.removeValue(forKey: number) }
                }) {
                    watch.cancel()
                }
                if wanted[name] == nil { state.withLock { $0.undefine(name) } }
                known[name] = nil
            }
            for (name, definition) in wanted where known[name] == nil {
                let sensor = mode == .simulated ? nil : CustomSensors.make(definition, onProblem)
                let now = moments.now().wall
                let number = state.withLock { $0.define(name, sensor, at: now) }
                known[name] = (definition, number)
                guard let number else { continue }
                watch(number)
                look(number, dwell: .zero)
            }
        }
    }

    /// Simulates conditions over the real ones; those not named stay as they are.
    ///
    /// - Parameter settings: `KEY=VALUE` each; see ``ConditionSettingError/valid``. A later one of a key
    ///   wins.
    /// - Throws: The first that is wrong; then nothing is changed.
    public func set(_ settings: [String]) throws(ConditionSettingError) {
        let keys = state.withLock { $0.keys }
        var parsed: [(ConditionKey, Reading<ConditionValue>)] = []
        for setting in settings { parsed.append(try ConditionGrammar.parse(setting, keys: keys)) }
        let now = moments.now()
        state.withLock { $0.simulate(parsed, at: now) }
    }

    /// Takes every simulated value back.
    public func clear() {
        let now = moments.now()
        state.withLock { $0.clear(at: now) }
    }

    /// The conditions from now on: first as they are, then after each change; a slow reader gets the newest.
    public func changes() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Conditions.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.remove(id) }
        }
        return stream
    }

    /// The machine's sleeps from now on.
    ///
    /// While there is a listener, each sleep waits until its ``SleepDelay`` is released, for
    /// ``longestSleepDelay`` at most. Use one listener at a time: the first release counts.
    public func sleepNotices() -> AsyncStream<SleepNotice> {
        let (stream, continuation) = AsyncStream.makeStream(of: SleepNotice.self)
        let id = sleepListeners.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.sleepListeners.withLock { $0.remove(id) }
        }
        return stream
    }

    /// Does what is due: reports changes that have lasted, and looks where something may have changed in
    /// silence.
    func timePassed() {
        let now = moments.now()
        let due = state.withLock { state in
            state.settle(at: now)
            return state.looksDue(at: now)
        }
        for index in due { look(index, dwell: dwell) }
        let isSleepDue = sleepListeners.withLock { $0.endDelay(at: now) }
        if isSleepDue { sleep?.releaseDelay() }
        rearm()
    }

    private func noticed(_ notice: KernelNotice, by index: Int) {
        switch notice {
        case .changed: look(index, dwell: dwell)
        case .failed: record(index, dwell: dwell) { _, _ in .failed }
        }
    }

    /// To be called before the first look, so that a change between the two is not missed.
    private func watch(_ index: Int) {
        let sensor = state.withLock { $0[index]?.sensor }
        let watch = sensor?.watch { [weak self] notice in self?.noticed(notice, by: index) }
        if let watch { watches.withLock { $0[index] = watch } }
    }

    private func look(_ index: Int, dwell: Duration) {
        record(index, dwell: dwell) { $0.read(at: $1) }
    }

    private func record(_ index: Int, dwell: Duration, _ answer: (any Sensor, Moment) -> SensorAnswer) {
        // Read under the lock: of two looks at once, the later must not be overwritten by the earlier.
        state.withLock { state in
            // A custom condition may be gone by now.
            guard let (sensor, rank) = state[index].map({ ($0.sensor, $0.rank) }) else { return }
            let now = moments.now()
            let found = answer(sensor, now)
            var mayStandIn = true
            if case .value(let value) = found { mayStandIn = sensor.mayStandIn(with: value) }
            state.record(
                found, of: sensor.key, source: rank, mayStandIn: mayStandIn, dwell: dwell, at: now)
            state.planLook(of: index, at: sensor.nextLook(after: now))
        }
        rearm()
    }

    private func rearm() {
        let dueOfSleep = sleepListeners.withLock { $0.delayEnds }
        // Set under the lock, so that an older time never replaces a newer one.
        state.withLock { state in
            alarm?.set(bootAt: [state.due, dueOfSleep].compactMap(\.self).min(), wallAt: nil)
        }
    }

    private func take(_ notice: SleepNotice) {
        switch notice {
        case .willSleep:
            let until = moments.now().boot + Self.longestSleepDelay
            let isHeard = sleepListeners.withLock { $0.tell(notice, until: until) }
            if !isHeard { sleep?.releaseDelay() }
        case .hasWoken:
            // Uevents and signals of the sleep may be lost.
            for index in state.withLock({ $0.sensorNumbers }) { look(index, dwell: dwell) }
            sleepListeners.withLock { _ = $0.tell(notice, until: nil) }
        }
        rearm()
    }
}
