import LinuxSystem
import Synchronization
import TaskModel

@testable import SystemConditions

/// A sensor with the answers that a test sets.
final class ScriptedSensor: Sensor {
    let key: ConditionKey
    let source = "scripted"
    private let answer: Mutex<SensorAnswer>
    private let notify = Mutex<(@Sendable (KernelNotice) -> Void)?>(nil)

    private let standsIn: @Sendable (ConditionValue) -> Bool

    init(
        _ key: ConditionKey, _ first: SensorAnswer,
        standsInFor standsIn: @escaping @Sendable (ConditionValue) -> Bool = { _ in true }
    ) {
        self.key = key
        self.standsIn = standsIn
        answer = Mutex(first)
    }

    func read(at now: Moment) -> SensorAnswer { answer.withLock { $0 } }

    func mayStandIn(with value: ConditionValue) -> Bool { standsIn(value) }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        notify.withLock { $0 = onNotice }
        return nil
    }

    func change(to new: SensorAnswer) {
        answer.withLock { $0 = new }
        send(.changed)
    }

    func send(_ notice: KernelNotice) {
        let handler = notify.withLock { $0 }
        handler?(notice)
    }
}
