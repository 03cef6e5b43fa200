import LinuxSystem
import TaskModel

/// The result of reading a sensor.
enum SensorAnswer: Equatable, Sendable {
    /// The source reported this value.
    case value(ConditionValue)
    /// The source is present, but can't know this value, so the next source decides.
    case elsewhere
    /// This machine does not have the source.
    case absent
    /// The source was asked, but has not answered yet.
    case pending
    /// The source is present, but reading it failed.
    case failed
}

/// An active watch of a sensor.
protocol SensorWatch: Sendable {
    /// Ends the sensor's notices; call this once.
    func cancel()
}

extension KernelNotices: SensorWatch {}
extension PressureWatch: SensorWatch {}

/// One source of one condition.
protocol Sensor: Sendable {
    /// The condition that the sensor reads.
    var key: ConditionKey { get }
    /// The name of the source in listings, such as `sysfs` or `UPower`.
    var source: String { get }

    /// Reads the sensor; fast, because it waits only for the kernel.
    ///
    /// The time is for answers that depend on how long a state has lasted.
    func read(at now: Moment) -> SensorAnswer

    /// The reading of CLOCK_BOOTTIME at which the answer can change without a notice, so that the sensor is
    /// asked again; `nil` if it can't.
    func nextLook(after now: Moment) -> Duration?

    /// What the ways to the network are made of; `nil` if this sensor does not know.
    func interfaces() -> Set<NetworkInterface>?

    /// Whether the value is reliable after a better source has vanished or failed.
    ///
    /// A source with less information must not report a better value than the lost source did.
    func mayStandIn(with value: ConditionValue) -> Bool

    /// Starts to watch the source; calls `onNotice` on another thread when the sensor should be read again.
    ///
    /// - Returns: The watch; `nil` if the source never changes or can't report changes.
    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)?
}

extension Sensor {
    func nextLook(after now: Moment) -> Duration? { nil }
    func mayStandIn(with value: ConditionValue) -> Bool { true }
    func interfaces() -> Set<NetworkInterface>? { nil }
}
