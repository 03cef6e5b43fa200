import LinuxSystem
import Synchronization

@testable import SystemConditions

/// A sensor that answers what a test tells it to.
final class ScriptedSensor: Sensor {
    let key: ConditionKey
    let source = "scripted"
    private let answer: Mutex<SensorAnswer>
    private let notify = Mutex<(@Sendable (KernelNotice) -> Void)?>(nil)

    init(_ key: ConditionKey, _ first: SensorAnswer) {
        self.key = key
        answer = Mutex(first)
    }

    func read() -> SensorAnswer { answer.withLock { $0 } }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> KernelNotices? {
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
