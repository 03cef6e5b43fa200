import LinuxSystem
import Synchronization
import TaskModel

/// Pressure on CPU, memory and I/O from the kernel's stall triggers (PSI).
final class PressureSensor: Sensor {
    /// When a resource is under pressure: some task waited this long within 2 s.
    ///
    /// Memory is systemd's default for its services (200 ms of 2 s, MEMORY_PRESSURE_WATCH). CPU and I/O are
    /// ours: our own low-priority tasks alone fill a core and a disk, so they count once tasks wait most of
    /// the time.
    static let stalls: [(name: String, milliseconds: Int)] = [("cpu", 1600), ("memory", 200), ("io", 1200)]
    /// Pressure is over when the kernel has not reported any for this long: several windows, so that it does
    /// not flap.
    static let hold = Duration.seconds(10)

    let key = ConditionKey.pressure
    let source = "psi"
    /// From a resource's name to the file of its trigger.
    private let path: @Sendable (String) -> String
    private let hold: Duration
    private let answer = Mutex(SensorAnswer.absent)

    /// Makes a sensor of the machine's files, or of a cgroup's for tests.
    init(
        hold: Duration = PressureSensor.hold,
        path: @escaping @Sendable (String) -> String = { "/proc/pressure/\($0)" }
    ) {
        self.path = path
        self.hold = hold
    }

    func read(at now: Moment) -> SensorAnswer { answer.withLock { $0 } }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        let triggers = Self.stalls.map {
            PressureTrigger(path: path($0.name), stall: .milliseconds($0.milliseconds), window: .seconds(2))
        }
        // A kernel without PSI, or one that gives triggers only to root: the condition is absent.
        let watch = try? PressureWatch(triggers, hold: hold) { [weak self] firing in
            self?.take(firing)
            onNotice(.changed)
        }
        if watch != nil { answer.withLock { $0 = .value(.pressure(.none)) } }
        return watch
    }

    private func take(_ firing: Set<Int>?) {
        answer.withLock {
            $0 =
                firing.map {
                    .value(
                        .pressure(
                            PressureCondition(
                                cpu: $0.contains(0), memory: $0.contains(1), io: $0.contains(2))))
                } ?? .failed
        }
    }
}
