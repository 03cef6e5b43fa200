import LinuxSystem
import Synchronization
import TaskModel

/// Pressure on CPU, memory and I/O from the kernel's stall triggers (PSI).
final class PressureSensor: Sensor {
    /// The thresholds of pressure: how long at least one task was stalled within 2 s.
    ///
    /// The value for memory is systemd's default for its services (200 ms of 2 s, MEMORY_PRESSURE_WATCH). The
    /// values for CPU and I/O are our choice. The host's own low-priority tasks can fill a core or a disk
    /// alone, so these thresholds are high.
    static let stalls: [(name: String, milliseconds: Int)] = [("cpu", 1600), ("memory", 200), ("io", 1200)]
    /// How long the kernel must report no pressure until the pressure counts as over.
    ///
    /// The duration covers several windows, so that the value does not flap.
    static let hold = Duration.seconds(10)

    let key = ConditionKey.pressure
    let source = "psi"
    /// The path of a resource's trigger file, such as `/proc/pressure/cpu`.
    private let path: @Sendable (String) -> String
    private let hold: Duration
    private let answer = Mutex(SensorAnswer.absent)

    /// Creates a sensor for the machine's files, or for those of a cgroup in tests.
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
        // If the kernel has no PSI, or lets only root create triggers, the condition is absent.
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
