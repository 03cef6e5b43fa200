import LinuxSystem

/// What a sensor finds when it looks.
enum SensorAnswer: Equatable, Sendable {
    /// The source answers.
    case value(ConditionValue)
    /// This machine has no such source.
    case absent
    /// The source is there and errs.
    case failed
}

/// One source of one condition.
protocol Sensor: Sendable {
    /// What it tells of.
    var key: ConditionKey { get }
    /// Its name in listings: `sysfs`, `rtnetlink`.
    var source: String { get }
    /// Looks; short, never waits for anything but the kernel.
    func read() -> SensorAnswer
    /// Calls back on a thread of its own whenever a look is worth while.
    ///
    /// - Returns: What ends the calls; `nil` if the source never changes by itself, or can't tell.
    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> KernelNotices?
}
