import LinuxSystem
import Synchronization
public import TaskModel

/// The machine's conditions: real values from sensors, or simulated values.
///
/// All methods may be called from any thread and return immediately. Values change on threads of
/// `LinuxSystem`, which end with this object. A change for the worse (the plug is pulled, a source
/// vanishes) is reported immediately. An improvement must last for ``dwell``, so that a loose power cable
/// stops tasks once and does not start them again and again.
public final class ConditionSensors: Sendable {
    /// The initial values of the conditions, to which ``clear()`` returns.
    public enum Mode: String, Sendable, CaseIterable {
        /// The machine's real values.
        case system
        /// Mains power, unmetered network, cool, user idle; no sensor is read.
        case simulated
    }

    /// How long an improvement must last before it is reported: 2 s.
    ///
    /// Our choice: longer than a plug bounces, and shorter than a person waits.
    public static let dwell = Duration.seconds(2)
    /// The longest time for which a sleep of the machine is delayed: logind's default (InhibitDelayMaxSec).
    public static let longestSleepDelay = Duration.seconds(5)

    private let state: Mutex<ConditionState>
    private let mode: Mode
    private let onProblem: @Sendable (String) -> Void
    private let moments: any MomentSource
    private let dwell: Duration
    private let alarm: WakeTimer?
    private let sleep: SleepInhibitor?
    private let storage: StorageSensor?
    private let thermal: ThermalSensor?
    private let sleepListeners = Mutex(SleepListeners())
    private let bus: Mutex<SystemBus?>
    private let watches = Mutex<[Int: any SensorWatch]>([:])
    /// The definitions of the custom conditions by name, with the number of the sensor of each.
    private let custom = Mutex<[String: (definition: CustomCondition, sensor: Int?)]>([:])

    /// Reads every sensor once and starts to watch them; waits up to 1 s for services of the system bus.
    ///
    /// - Parameters:
    ///   - mode: Whether the conditions are real or simulated.
    ///   - sysfsRoot: `/sys`, or for tests a directory with the same structure.
    ///   - dataDirectory: A directory on the file system whose free space is a condition; `nil` leaves it
    ///     unknown.
    ///   - busAddress: The address of the system bus; by default `DBUS_SYSTEM_BUS_ADDRESS` or the standard
    ///     socket.
    ///   - lowData: Which networks are in low-data mode.
    ///   - moments: The clock for ``ConditionRow/since`` and for durations.
    ///   - onProblem: Called on any thread with the reason why a custom condition has no value; once for each
    ///     new reason.
    public convenience init(
        mode: Mode, sysfsRoot: String = "/sys", dataDirectory: String? = nil, busAddress: String? = nil,
        lowData: LowDataMode = .never, moments: any MomentSource,
        onProblem: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        guard mode == .system else {
            self.init(mode: mode, sensors: [], moments: moments)
            return
        }
        let machine = MachineSensors(sysfsRoot: sysfsRoot, lowData: lowData)
        let storage = dataDirectory.map(StorageSensor.init)
        self.init(
            mode: mode, sensors: machine.sensors + [storage].compactMap(\.self), moments: moments,
            dwell: Self.dwell, alarm: try? WakeTimer(), storage: storage,
            thermal: machine.thermal, sleep: machine.sleep,
            bus: machine.joinBus(busAddress ?? BusAddress.system), onProblem: onProblem)
    }

    init(
        mode: Mode, sensors: [any Sensor], moments: any MomentSource, dwell: Duration = .zero,
        alarm: WakeTimer? = nil, storage: StorageSensor? = nil, thermal: ThermalSensor? = nil,
        sleep: SleepInhibitor? = nil, bus: SystemBus? = nil,
        onProblem: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.mode = mode
        self.onProblem = onProblem
        self.moments = moments
        self.dwell = dwell
        self.alarm = alarm
        self.sleep = sleep
        self.storage = storage
        self.thermal = thermal
        self.bus = Mutex(bus)
        state = Mutex(ConditionState(mode: mode, sensors: sensors, at: moments.now().wall))
        let numbers = state.withLock { $0.sensorNumbers }
        for number in numbers { watch(number) }
        for number in numbers { look(number, dwell: .zero) }
        sleep?.listen { [weak self] in self?.take($0) }
        if let wakes = alarm?.wakes {
            // Not a structured task: it ends when `deinit` cancels the alarm.
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

    /// The present value of every condition.
    public func snapshot() -> Conditions { state.withLock { $0.conditions } }

    /// Every condition with its value, source and time of change, in the order of `bgtask conditions`.
    public func rows() -> [ConditionRow] {
        // Nothing reports its changes, so the value can be old.
        lookAtStorage(dwell: dwell)
        let now = moments.now()
        return state.withLock { $0.rows(at: now) }
    }

    /// Replaces all custom conditions; those with an unchanged definition keep their value and time of
    /// change.
    ///
    /// A condition with a new source is unknown until the source answers. A simulated host reads no source,
    /// so its custom conditions are off at first.
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

    /// Reads the free space now and once a minute from now on, if a manifest needs it; otherwise not any
    /// more.
    public func watchStorage(_ isNeeded: Bool) {
        storage?.setNeeded(isNeeded)
        lookAtStorage(dwell: .zero)
    }

    /// Reads the temperature now and then from now on, because a launch is under way; or, with `false`, only
    /// when the kernel reports a change or the machine is warm.
    ///
    /// The first call reads the temperature at once, unless that was done less than a minute ago.
    public func watchHeat(_ isBusy: Bool) {
        guard let thermal else { return }
        let now = moments.now()
        let isDue = thermal.setBusy(isBusy, at: now)
        for number in sensorNumbers(of: .thermal) {
            if isDue {
                look(number, dwell: dwell)
            } else {
                state.withLock { $0.planLook(of: number, at: thermal.nextLook(after: now)) }
            }
        }
        rearm()
    }

    private func lookAtStorage(dwell: Duration) {
        guard storage != nil else { return }
        for number in sensorNumbers(of: .storage) { look(number, dwell: dwell) }
    }

    private func sensorNumbers(of key: ConditionKey) -> [Int] {
        state.withLock { state in state.sensorNumbers.filter { state[$0]?.sensor.key == key } }
    }

    /// Simulates some conditions; the others keep their values.
    ///
    /// - Parameter settings: Settings of the form `KEY=VALUE`; the last one for a key counts.
    /// - Throws: ``ConditionSettingError`` for the first invalid setting; then no condition has changed.
    public func set(_ settings: [String]) throws(ConditionSettingError) {
        let keys = state.withLock { $0.keys }
        var parsed: [(ConditionKey, Reading<ConditionValue>)] = []
        for setting in settings { parsed.append(try ConditionGrammar.parse(setting, keys: keys)) }
        let now = moments.now()
        state.withLock { $0.simulate(parsed, at: now) }
    }

    /// Ends the simulation of all values.
    public func clear() {
        let now = moments.now()
        state.withLock { $0.clear(at: now) }
    }

    /// A stream of the conditions: first the present values, and then those after each change.
    ///
    /// A slow reader gets only the newest values.
    public func changes() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Conditions.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.remove(id) }
        }
        return stream
    }

    /// A stream of notices that the machine is about to sleep or has woken.
    ///
    /// While there is a listener, each sleep waits until the listener releases its ``SleepDelay``, but at
    /// most ``longestSleepDelay``. Use only one listener at a time, because the first release lets the
    /// machine sleep.
    public func sleepNotices() -> AsyncStream<SleepNotice> {
        let (stream, continuation) = AsyncStream.makeStream(of: SleepNotice.self)
        let id = sleepListeners.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.sleepListeners.withLock { $0.remove(id) }
        }
        return stream
    }

    /// Does what is due: reports improvements that have lasted, and reads sensors that can't report changes.
    ///
    /// Also ends the delay of a sleep that has lasted too long.
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

    /// Starts to watch a sensor; call this before the first read, so that no change in between is missed.
    private func watch(_ index: Int) {
        let sensor = state.withLock { $0[index]?.sensor }
        let watch = sensor?.watch { [weak self] notice in self?.noticed(notice, by: index) }
        if let watch { watches.withLock { $0[index] = watch } }
    }

    private func look(_ index: Int, dwell: Duration) {
        record(index, dwell: dwell) { $0.read(at: $1) }
    }

    private func record(_ index: Int, dwell: Duration, _ answer: (any Sensor, Moment) -> SensorAnswer) {
        // The sensor is read under the lock. Otherwise, an older result could overwrite a newer one.
        state.withLock { state in
            // The custom condition may have been removed in the meantime.
            guard let (sensor, rank) = state[index].map({ ($0.sensor, $0.rank) }) else { return }
            let now = moments.now()
            let found = answer(sensor, now)
            var mayStandIn = true
            if case .value(let value) = found { mayStandIn = sensor.mayStandIn(with: value) }
            if let interfaces = sensor.interfaces() { state.note(interfaces) }
            state.record(
                found, of: sensor.key, source: rank, mayStandIn: mayStandIn, dwell: dwell, at: now)
            state.planLook(of: index, at: sensor.nextLook(after: now))
        }
        rearm()
    }

    private func rearm() {
        let dueOfSleep = sleepListeners.withLock { $0.delayEnds }
        // The timer is set under the lock, so that an outdated time never replaces a newer one.
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
            // Uevents and D-Bus signals that were sent during the sleep may be lost.
            for index in state.withLock({ $0.sensorNumbers }) { look(index, dwell: dwell) }
            sleepListeners.withLock { _ = $0.tell(notice, until: nil) }
        }
        rearm()
    }
}
