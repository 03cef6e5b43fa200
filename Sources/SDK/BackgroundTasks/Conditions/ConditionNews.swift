import Foundation
import Synchronization

/// Posts notifications when the conditions of the machine change.
package final class ConditionNews: Sendable {
    /// The only instance in the process.
    package static let shared = ConditionNews()

    private struct State {
        var last = MachineConditions()
        var followers: [@Sendable (_ old: MachineConditions, _ new: MachineConditions) -> Void] = []
    }

    private let state = Mutex(State())

    /// Starts to observe the conditions of a host.
    func follow(_ host: any AppHost) {
        state.withLock { $0.last = host.toldConditions }
        host.observeConditions { [self] in post($0) }
    }

    /// Calls `follower` with the old and the new conditions after every change, on a thread of the host
    /// connection.
    package func add(_ follower: @escaping @Sendable (MachineConditions, MachineConditions) -> Void) {
        state.withLock { $0.followers.append(follower) }
    }

    private func post(_ new: MachineConditions) {
        let (old, followers) = state.withLock { state in
            defer { state.last = new }
            return (state.last, state.followers)
        }
        let center = NotificationCenter.default
        if old.isLowPower != new.isLowPower {
            center.post(name: .NSProcessInfoPowerStateDidChange, object: ProcessInfo.processInfo)
        }
        if old.thermal != new.thermal {
            center.post(name: ProcessInfo.thermalStateDidChangeNotification, object: ProcessInfo.processInfo)
        }
        for follower in followers { follower(old, new) }
    }
}
