import LinuxSystem
import Synchronization
public import TaskModel

/// The machine's conditions: read from its sensors, or simulated one by one or altogether.
///
/// All methods may be called from any thread and return at once. Values change on threads of `LinuxSystem`, which end
/// with this object.
public final class ConditionSensors: Sendable {
    /// What the conditions begin as, and what ``clear()`` returns to.
    public enum Mode: String, Sendable, CaseIterable {
        /// The machine's own.
        case system
        /// Mains power, unmetered network, cool, idle; no sensor is read.
        case simulated
    }

    private let state: Mutex<ConditionState>
    private let sensors: [any Sensor]
    private let moments: any MomentSource
    private let watches: Mutex<[KernelNotices]>

    /// Reads every sensor once and begins to watch them.
    ///
    /// - Parameters:
    ///   - mode: Where the conditions come from.
    ///   - sysfsRoot: `/sys`, or a directory in its shape for tests.
    ///   - moments: The clock for ``ConditionRow/since``.
    public convenience init(mode: Mode, sysfsRoot: String = "/sys", moments: any MomentSource) {
        let real: [any Sensor] = [
            PowerSupplySensor(root: sysfsRoot), RouteSensor(), RenderNodeSensor(root: sysfsRoot),
        ]
        self.init(mode: mode, sensors: mode == .system ? real : [], moments: moments)
    }

    init(mode: Mode, sensors: [any Sensor], moments: any MomentSource) {
        self.sensors = sensors
        self.moments = moments
        state = Mutex(ConditionState(mode: mode, at: moments.now().wall))
        watches = Mutex([])
        // Watched before the first look, so that a change between the two is not missed.
        for sensor in sensors {
            let notices = sensor.watch { [weak self] notice in self?.noticed(notice, by: sensor) }
            if let notices { watches.withLock { $0.append(notices) } }
        }
        for sensor in sensors { look(sensor) }
    }

    deinit {
        watches.withLock { $0.forEach { $0.cancel() } }
        state.withLock { $0.finish() }
    }

    /// The conditions now.
    public func snapshot() -> Conditions { state.withLock { $0.conditions } }

    /// Every condition with its value, source and time of change, in the order of `bgtask conditions`.
    public func rows() -> [ConditionRow] { state.withLock { $0.rows } }

    /// Simulates conditions over the real ones; those not named stay as they are.
    ///
    /// - Parameter settings: `KEY=VALUE` each; see ``ConditionSettingError/valid``. A later one of a key wins.
    /// - Throws: The first that is wrong; then nothing is changed.
    public func set(_ settings: [String]) throws(ConditionSettingError) {
        var parsed: [(ConditionKey, Reading<ConditionValue>)] = []
        for setting in settings { parsed.append(try ConditionGrammar.parse(setting)) }
        let now = moments.now().wall
        state.withLock { $0.simulate(parsed, at: now) }
    }

    /// Takes every simulated value back.
    public func clear() {
        let now = moments.now().wall
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

    private func noticed(_ notice: KernelNotice, by sensor: any Sensor) {
        switch notice {
        case .changed: look(sensor)
        case .failed: record(.failed, of: sensor)
        }
    }

    private func look(_ sensor: any Sensor) {
        // Read under the lock: of two looks at once, the later must not be overwritten by the earlier.
        let now = moments.now().wall
        state.withLock { $0.record(sensor.read(), of: sensor.key, source: sensor.source, at: now) }
    }

    private func record(_ answer: SensorAnswer, of sensor: any Sensor) {
        let now = moments.now().wall
        state.withLock { $0.record(answer, of: sensor.key, source: sensor.source, at: now) }
    }
}
