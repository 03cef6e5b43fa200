import LinuxSystem
import TaskModel

/// What a sensor finds when it looks.
enum SensorAnswer: Equatable, Sendable {
    /// The source answers.
    case value(ConditionValue)
    /// The source is there and leaves the answer to the next one: it does not look after this part of the
    /// machine.
    case elsewhere
    /// This machine has no such source.
    case absent
    /// The source was asked and has not answered yet.
    case pending
    /// The source is there and errs.
    case failed
}

/// What ends a sensor's notices.
protocol SensorWatch: Sendable {
    /// Ends them; called once.
    func cancel()
}

extension KernelNotices: SensorWatch {}
extension PressureWatch: SensorWatch {}

/// One source of one condition.
protocol Sensor: Sendable {
    /// The condition that it reports.
    var key: ConditionKey { get }
    /// Its name in listings: `sysfs`, `UPower`.
    var source: String { get }

    /// Looks; short, never waits for anything but the kernel.
    ///
    /// The time is for what depends on how long something lasts.
    func read(at now: Moment) -> SensorAnswer

    /// When the answer can change without a report, on the boot clock; `nil` if it can't.
    func nextLook(after now: Moment) -> Duration?

    /// Whether its value is to be believed where a source before it has vanished or errs.
    ///
    /// A source that knows less must not relax what the better one said last.
    func mayStandIn(with value: ConditionValue) -> Bool

    /// Calls back on a thread of its own whenever a look is worthwhile.
    ///
    /// - Returns: A value that ends the calls; `nil` if the source never changes, or can't report changes.
    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)?
}

extension Sensor {
    func nextLook(after now: Moment) -> Duration? { nil }
    func mayStandIn(with value: ConditionValue) -> Bool { true }
}
