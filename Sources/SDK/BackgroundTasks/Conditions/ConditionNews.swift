import Foundation
import Synchronization

/// Posts notifications when the conditions of the machine change.
package final class ConditionNews: Sendable {
    /// The only instance in the process.
    package static let shared = ConditionNews()

    package typealias Follower = @Sendable (_ old: MachineConditions, _ new: MachineConditions) -> Void

    private struct State {
        var last = MachineConditions()
        var followers: [(number: Int, follow: Follower)] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Starts to observe the conditions of a host.
    func follow(_ host: any AppHost) {
        state.withLock { $0.last = host.toldConditions }
        host.observeConditions { [self] in post($0) }
    }

    /// Calls `follower` with the old and the new conditions after every change, on a thread of the host
    /// connection.
    ///
    /// - Returns: A number for ``remove(_:)``.
    @discardableResult
    package func add(_ follower: @escaping Follower) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.followers.append((state.lastNumber, follower))
            return state.lastNumber
        }
    }

    /// Calls a follower no more.
    package func remove(_ number: Int) { state.withLock { $0.followers.removeAll { $0.number == number } } }

    private func post(_ new: MachineConditions) {
        let (old, followers) = state.withLock { state in
            defer { state.last = new }
            return (state.last, state.followers.map(\.follow))
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
