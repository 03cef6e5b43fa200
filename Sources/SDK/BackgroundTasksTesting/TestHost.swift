import BackgroundTasks
import Foundation
import Synchronization

/// The simulated host of a test.
final class TestHost: AppHost {
    let permits: AppPermits?
    /// The process of a test was not started by a host, but has permissions like a launch.
    let launchedFor: LaunchFacts? = nil
    let assertionAllowance: TimeInterval = 30

    /// The host's default limits of pending requests.
    static let limits: [BackgroundTaskKind: Int] = [.appRefresh: 1, .processing: 10]

    private struct State {
        var date: Date
        var pending: [RequestFacts] = []
        var successes: [String: Date] = [:]
        var lines: [String] = []
        var advice: [String] = []
        var conditions = MachineConditions()
        var follower: (@Sendable (MachineConditions) -> Void)?
        var refusal: BGTaskScheduler.Error.Code?
    }

    private let state: Mutex<State>

    init(_ permits: AppPermits, date: Date) {
        self.permits = permits
        state = Mutex(State(date: date))
    }

    var now: Date { state.withLock { $0.date } }
    var lines: [String] { state.withLock { $0.lines } }
    var advice: [String] { state.withLock { $0.advice } }
    var conditions: MachineConditions { state.withLock { $0.conditions } }

    func advance(by seconds: TimeInterval) { state.withLock { $0.date += max(0, seconds) } }

    func submit(_ request: RequestFacts) throws(Refusal) {
        let refusal = state.withLock { state -> Refusal? in
            if let code = state.refusal {
                return Refusal(code, "\(request.identifier): the test refuses submissions")
            }
            guard let pattern = permits?.pattern(for: request.identifier) else {
                return Refusal(
                    .notPermitted,
                    "\(request.identifier): the test does not permit it. Name it in withTestApp(permitting:), as the manifest does."
                )
            }
            state.pending.removeAll { $0.identifier == request.identifier }
            let kind = permits?.kinds[pattern] ?? request.kind
            var request = request
            request.kind = kind
            if let limit = Self.limits[kind], state.pending.filter({ $0.kind == kind }).count >= limit {
                return Refusal(
                    .tooManyPendingTaskRequests,
                    "\(request.identifier): \(limit) of \(limit) pending requests are taken. Cancel one of them, or wait until one is launched."
                )
            }
            state.pending.append(request)
            return nil
        }
        if let refusal { throw refusal }
    }

    func cancel(_ identifier: String?) {
        state.withLock { $0.pending.removeAll { identifier == nil || $0.identifier == identifier } }
    }

    func pending() -> [RequestFacts] { state.withLock { $0.pending } }

    /// Removes and returns the pending request of an identifier; `nil` if there is none.
    func take(_ identifier: String) -> RequestFacts? {
        state.withLock { state in
            state.pending.firstIndex { $0.identifier == identifier }.map { state.pending.remove(at: $0) }
        }
    }

    /// When a launch of the identifier last succeeded; `nil` if none did.
    func lastSuccess(of identifier: String) -> Date? { state.withLock { $0.successes[identifier] } }

    /// Notes that a launch of the identifier succeeded now.
    func succeed(_ identifier: String) { state.withLock { $0.successes[identifier] = $0.date } }

    /// The identifiers whose requests are due, the earliest first.
    func due() -> [String] {
        state.withLock { state in
            state.pending.filter { ($0.earliestBeginDate ?? .distantPast) <= state.date }
                .sorted { ($0.earliestBeginDate ?? .distantPast) < ($1.earliestBeginDate ?? .distantPast) }
                .map(\.identifier)
        }
    }

    func refuse(with code: BGTaskScheduler.Error.Code?) { state.withLock { $0.refusal = code } }

    func changeConditions(_ change: (inout MachineConditions) -> Void) {
        let (follower, conditions) = state.withLock { state in
            change(&state.conditions)
            return (state.follower, state.conditions)
        }
        follower?(conditions)
    }

    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        let place = [subsystem, category].compactMap(\.self).joined(separator: ":")
        state.withLock { $0.lines.append(place.isEmpty ? message : "[\(place)] \(message)") }
    }

    func advise(_ code: String, _ message: String) {
        state.withLock { $0.advice.append("\(code): \(message)") }
    }
    func fault(_ code: String, _ message: String) {}
    func beginAssertion(_ name: String) -> UInt64? { nil }
    func endAssertion(_ assertion: UInt64) {}

    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void) {
        state.withLock { $0.follower = handler }
    }
}
