import Foundation
import Synchronization

/// Posts the notifications that follow from a change of the machine's conditions.
package final class ConditionNews: Sendable {
    /// The process's one source of such news.
    package static let shared = ConditionNews()

    private struct State {
        var last = MachineConditions()
        var followers: [@Sendable (_ old: MachineConditions, _ new: MachineConditions) -> Void] = []
    }

    private let state = Mutex(State())

    /// Begins to listen to a host.
    func follow(_ host: any AppHost) {
        state.withLock { $0.last = host.toldConditions }
        host.observeConditions { [self] in post($0) }
    }

    /// Calls `follower` on every change, on a thread of the host's.
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
