import LinuxSystem
import Synchronization
import TaskModel

/// How one service of the system bus reports one condition.
protocol BusSource: Sendable {
    var key: ConditionKey { get }
    /// Its name in listings.
    var name: String { get }
    /// Its well-known bus name.
    var service: String { get }
    var objects: [BusObject] { get }
    /// The answer in these properties; ``SensorAnswer/failed`` if a required one is missing.
    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer
    /// As ``Sensor/nextLook(after:)``.
    func nextLook(_ properties: [BusObject: [String: BusValue]], after now: Moment) -> Duration?
    /// How long these properties hold without a signal; `nil` if signals report every change.
    func validity(of properties: [BusObject: [String: BusValue]]) -> Duration?
}

extension BusSource {
    func validity(of properties: [BusObject: [String: BusValue]]) -> Duration? { nil }
    func nextLook(_ properties: [BusObject: [String: BusValue]], after now: Moment) -> Duration? { nil }
}

/// A sensor behind the system bus: remembers what its service said last.
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
        // The bus is one for all sensors; who joined it leaves it.
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
