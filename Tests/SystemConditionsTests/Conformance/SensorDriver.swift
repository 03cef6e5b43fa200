import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel

@testable import SystemConditions

/// What the suite needs of one kind of source: the source itself, made to come, change and go.
protocol SensorDriver: AnyObject, SendableMetatype {
    /// As it is called in reports.
    static var name: String { get }
    /// Why it can't be run on this machine; `nil` if it can.
    static var obstacle: String? { get }
    /// What the condition is where the source was absent from the start: the table of semantics, section 5.
    static var absent: String { get }
    /// The value that allows more, and the one that allows less.
    static var better: String { get }
    static var worse: String { get }
    /// Whether the sensor's own word that the source is absent can be had: the kernel's parts are always there.
    static var canBeAbsent: Bool { get }

    init() throws
    /// A sensor of this source, and the bus that it hears it by.
    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?)
    /// Starts the source; it says one of the two values.
    func appear() throws
    func improve() throws
    func worsen() throws
    /// Ends the source, or lets it err.
    func vanish() throws
}

extension SensorDriver {
    static var obstacle: String? { nil }
    static var canBeAbsent: Bool { true }
}

/// A sensor with a second way to send notices: for what the kernel can't be made to tell on purpose.
final class NudgedSensor: Sensor {
    private let inner: any Sensor
    private let notify = Mutex<(@Sendable (KernelNotice) -> Void)?>(nil)
    private let isFailing = Mutex(false)

    init(_ inner: any Sensor) { self.inner = inner }

    var key: ConditionKey { inner.key }
    var source: String { inner.source }
    func read(at now: Moment) -> SensorAnswer { isFailing.withLock { $0 } ? .failed : inner.read(at: now) }
    func nextLook(after now: Moment) -> Duration? { inner.nextLook(after: now) }
    func mayStandIn(with value: ConditionValue) -> Bool { inner.mayStandIn(with: value) }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        notify.withLock { $0 = onNotice }
        return inner.watch(onNotice)
    }

    /// As if the kernel had told of a change.
    func nudge() { notify.withLock { $0 }?(.changed) }

    /// The source errs from now on, or does not any more.
    func fail(_ fails: Bool) {
        isFailing.withLock { $0 = fails }
        nudge()
    }
}

extension Conditions {
    /// A condition in the words of the listing, as coarse as decisions are.
    func text(of key: ConditionKey) -> String {
        let flag = { (reading: Reading<Bool>) in reading.value.map { $0 ? "on" : "off" } ?? "unknown" }
        switch key {
        case .power: return power.value.map { $0.externalPower ? "external" : "battery" } ?? "unknown"
        case .lowPower: return flag(lowPowerMode)
        case .network: return network.value?.rawValue ?? "unknown"
        case .thermal: return thermal.value?.rawValue ?? "unknown"
        case .user: return user.value?.rawValue ?? "unknown"
        case .pressure: return pressure.value.map { $0 == .none ? "none" : "pressed" } ?? "unknown"
        case .gpu: return flag(gpu)
        case .custom(let name): return custom[name].map(flag) ?? "undefined"
        }
    }
}
