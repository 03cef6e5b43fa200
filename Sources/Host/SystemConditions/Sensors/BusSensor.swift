import LinuxSystem
import Synchronization
import TaskModel

/// Reads one condition from the D-Bus properties of one service.
protocol BusSource: Sendable {
    var key: ConditionKey { get }
    /// The name of the source in listings.
    var name: String { get }
    /// The well-known bus name of the service.
    var service: String { get }
    var objects: [BusObject] { get }
    /// Converts properties to an answer; ``SensorAnswer/failed`` if a required property is missing.
    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer
    /// When the answer can change without a signal, on CLOCK_BOOTTIME; see ``Sensor/nextLook(after:)``.
    func nextLook(_ properties: [BusObject: [String: BusValue]], after now: Moment) -> Duration?
    /// How long properties stay valid without a signal; `nil` if signals report every change.
    func validity(of properties: [BusObject: [String: BusValue]]) -> Duration?
}

extension BusSource {
    func validity(of properties: [BusObject: [String: BusValue]]) -> Duration? { nil }
    func nextLook(_ properties: [BusObject: [String: BusValue]], after now: Moment) -> Duration? { nil }
}

/// A sensor for a service of the system bus; stores the newest state of the service.
final class BusSensor<Source: BusSource>: Sensor, BusClient {
    let origin: Source
    private let state = Mutex(BusServiceState.unasked)
    private let listener = Mutex<(@Sendable (KernelNotice) -> Void)?>(nil)

    var key: ConditionKey { origin.key }
    var source: String { origin.name }
    var service: String { origin.service }
    var objects: [BusObject] { origin.objects }
    var signals: [BusObject: [String]] { [:] }

    init(_ origin: Source) { self.origin = origin }

    func read(at now: Moment) -> SensorAnswer {
        switch state.withLock({ $0 }) {
        case .unasked: .pending
        case .absent: .absent
        case .failing: .failed
        case .present(let properties): origin.answer(properties, at: now)
        }
    }

    func nextLook(after now: Moment) -> Duration? {
        guard case .present(let properties) = state.withLock({ $0 }) else { return nil }
        return origin.nextLook(properties, after: now)
    }

    func validity(of state: BusServiceState) -> Duration? {
        guard case .present(let properties) = state else { return nil }
        return origin.validity(of: properties)
    }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        listener.withLock { $0 = onNotice }
        // All sensors share the bus connection, which its creator closes.
        return BusListener(clear: { [weak self] in self?.listener.withLock { $0 = nil } })
    }

    func changed(_ new: BusServiceState, _ bus: any BusCaller) {
        state.withLock { $0 = new }
        let notify = listener.withLock { $0 }
        notify?(.changed)
    }

    func received(_ member: String, _ arguments: [BusValue], _ bus: any BusCaller) {}
}

private struct BusListener: SensorWatch {
    let clear: @Sendable () -> Void
    func cancel() { clear() }
}

extension BusValue {
    var flag: Bool? { if case .flag(let value) = self { value } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var number: Double? { if case .number(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
}
