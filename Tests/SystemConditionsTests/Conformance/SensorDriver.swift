import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel

@testable import SystemConditions

/// Controls one kind of source for the suite: it makes the source appear, change and vanish.
protocol SensorDriver: AnyObject, SendableMetatype {
    /// The name for reports.
    static var name: String { get }
    /// The reason why the source cannot run on this machine; `nil` if it can.
    static var obstacle: String? { get }
    /// The value of the condition if the source was absent from the start.
    static var absent: String { get }
    /// The value that permits more launches; `worse` is the one that permits fewer.
    static var better: String { get }
    static var worse: String { get }
    /// Whether the source can be absent; sources in the kernel cannot.
    static var canBeAbsent: Bool { get }

    init() throws
    /// A sensor of this source, with the bus that it uses; no bus if it uses none.
    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?)
    /// Starts the source; it has the value `better` or `worse`.
    func appear() throws
    func improve() throws
    func worsen() throws
    /// Ends the source, or makes it fail.
    func vanish() throws
}

extension SensorDriver {
    static var obstacle: String? { nil }
    static var canBeAbsent: Bool { true }
}

/// A sensor with a second way to send notices, for notices that a test cannot make the kernel send.
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

    /// Sends a notice of a change, like the kernel's.
    func nudge() { notify.withLock { $0 }?(.changed) }

    /// Makes the source fail from now on, or work again.
    func fail(_ fails: Bool) {
        isFailing.withLock { $0 = fails }
        nudge()
    }
}

extension Conditions {
    /// The value of a condition as text, with only the detail that decisions use.
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
        case .storage: return storage.value.map { "\($0)" } ?? "unknown"
        case .custom(let name): return custom[name].map(flag) ?? "undefined"
        }
    }
}
