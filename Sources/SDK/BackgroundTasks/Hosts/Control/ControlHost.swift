import ControlChannel
import Foundation
import Synchronization

/// A host at the other end of its control socket, for a process that the host did not start.
final class ControlHost: AppHost {
    let permits: AppPermits? = nil
    let launchedFor: LaunchFacts? = nil
    let assertionAllowance: TimeInterval = 30
    private let connection: ControlConnection
    /// The app's bundle identifier, if the process has one: all requests of this bundle belong to the app.
    private let bundle = Bundle.main.bundleIdentifier
    /// The identifiers that this process has submitted: their requests also belong to the app.
    private let submitted = Mutex<Set<String>>([])
    /// The sessions for the handlers that this process runs itself, by registered identifier.
    private let sessions = Mutex<[String: ClientSession]>([:])
    private let machine = Mutex(Machine())
    private struct Machine {
        var told = MachineConditions()
        var follower: (@Sendable (MachineConditions) -> Void)?
    }

    /// A serial queue, so that only one registration takes place at a time.
    private let registering = DispatchQueue(label: "BackgroundTasks.client.registering")

    /// The seconds of silence after which the host counts as unreachable; event streams have a comment every
    /// 15 s.
    private static let timeout = 30

    /// Prepares a connection to the host at a socket; this sends nothing yet.
    init(socket: String) { connection = ControlConnection(path: socket, timeout: Self.timeout) }

    /// The host that this process should use; `nil` if no control socket was found.
    ///
    /// The paths are the same as for every client. If `BGTASK_SOCKET` is set, its path is used, whether a
    /// socket exists there or not. Otherwise, the first path where a file exists is used: in the user's
    /// runtime directory or, without `XDG_RUNTIME_DIR`, in the user's state directory, then in `/run/bgtask`.
    static func find() -> ControlHost? {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["BGTASK_SOCKET"], !named.isEmpty { return ControlHost(socket: named) }
        var paths = ["/run/bgtask/control.sock"]
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            paths.insert(runtime + "/bgtask/control.sock", at: 0)
        } else if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            paths.insert(state + "/bgtask/control.sock", at: 0)
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.insert(home + "/.local/state/bgtask/control.sock", at: 0)
        }
        return paths.first { FileManager.default.fileExists(atPath: $0) }.map(ControlHost.init(socket:))
    }

    func submit(_ request: RequestFacts) throws(Refusal) {
        if let handled = App.shared.registeredIdentifier(for: request.identifier) {
            try register(handled, for: request.identifier)
        }
        do {
            let body = try JSONEncoder().encode(ControlMessages.Submission(request))
            let answer = try connection.send("POST", "/v1/requests", body: Array(body))
            guard answer.status >= 400 else {
                submitted.withLock { _ = $0.insert(request.identifier) }
                return
            }
            throw Self.refusal(answer, of: request.identifier)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(
                .unavailable, "\(request.identifier): \(text(of: error)). Start a host: bgtaskd")
        }
    }

    /// Reports to the host, before the first submission, that this process has a handler for an identifier.
    private func register(_ identifier: String, for submission: String) throws(Refusal) {
        let result: Result<Void, Refusal> = registering.sync {
            guard sessions.withLock({ $0[identifier] }) == nil else { return .success(()) }
            do throws(Refusal) {
                let session = try ClientSession(
                    identifier, for: submission, connection, of: self,
                    conditions: { [weak self] in self?.changed($0) },
                    ended: { [weak self] in self?.sessions.withLock { $0[identifier] = nil } })
                sessions.withLock { $0[identifier] = session }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func changed(_ conditions: MachineConditions) {
        let follower = machine.withLock { machine in
            machine.told = conditions
            return machine.follower
        }
        follower?(conditions)
    }

    /// The conditions of the machine.
    ///
    /// The getter asks the host unless the host sends its conditions by itself, which it does while a session
    /// exists.
    var conditions: MachineConditions {
        let isTold = sessions.withLock { !$0.isEmpty }
        guard !isTold, let answer = try? connection.send("GET", "/v1/conditions"),
            let rows = try? JSONDecoder().decode([ControlMessages.Condition].self, from: Data(answer.body))
        else { return toldConditions }
        return MachineConditions(rows)
    }

    var toldConditions: MachineConditions { machine.withLock { $0.told } }

    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void) {
        machine.withLock { $0.follower = handler }
    }

    func cancel(_ identifier: String?) {
        for request in rows() where identifier == nil || request.identifier == identifier {
            do {
                let body = try JSONEncoder().encode(ControlMessages.Cancellation(target: request.request))
                _ = try connection.send("POST", "/v1/cancel", body: Array(body))
            } catch {
                log(
                    .warning, subsystem: nil, category: nil,
                    "\(request.identifier) is not cancelled: \(text(of: error))")
            }
        }
    }

    func pending() -> [RequestFacts] { rows().map(\.facts) }

    /// The app's pending requests: those of its bundle, and those of identifiers that this process has
    /// submitted.
    private func rows() -> [ControlMessages.Request] {
        do {
            let answer = try connection.send("GET", "/v1/requests")
            let rows = try JSONDecoder().decode([ControlMessages.Row].self, from: Data(answer.body))
                .map(\.request)
            let own = submitted.withLock { $0 }
            return rows.filter { $0.bundle == bundle || own.contains($0.identifier) }
        } catch {
            log(
                .warning, subsystem: nil, category: nil,
                "pending requests can't be listed: \(text(of: error))")
            return []
        }
    }

    /// Converts an error of the connection to a refusal.
    func refusal(_ failure: ControlFailure, of identifier: String) -> Refusal {
        if case .refused(let answer) = failure { return Self.refusal(answer, of: identifier) }
        return Refusal(.unavailable, "\(identifier): \(text(of: failure)). Start a host: bgtaskd")
    }

    private static func refusal(_ answer: ControlConnection.Answer, of identifier: String) -> Refusal {
        guard let problem = try? JSONDecoder().decode(ControlMessages.Problem.self, from: Data(answer.body))
        else {
            return Refusal(.unavailable, "\(identifier): the host answered with status \(answer.status)")
        }
        let codes: [String: BGTaskScheduler.Error.Code] = [
            "notPermitted": .notPermitted, "invalidRequest": .notPermitted,
            "tooManyPendingTaskRequests": .tooManyPendingTaskRequests,
            "immediateRunIneligible": .immediateRunIneligible,
        ]
        return Refusal(
            codes[problem.code] ?? .unavailable, "\(problem.subject): \(problem.finding). \(problem.remedy)")
    }

    /// Describes an error, with the path of the socket.
    private func text(of error: any Error) -> String {
        switch error as? ControlFailure {
        case .unreachable(let cause): "no host answers on \(connection.path): \(cause)"
        case .broken(let finding): "the host on \(connection.path) sent an invalid answer: \(finding)"
        case .timedOut(let seconds): "the host on \(connection.path) did not answer within \(seconds) s"
        case .refused(let answer): "the host on \(connection.path) answered with status \(answer.status)"
        case .cancelled: "the call was cancelled"
        case nil: "\(error)"
        }
    }

    // The following members do not use the host, because it did not start this process.

    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        NoHost.write(level, subsystem: subsystem, category: category, message)
    }

    func advise(_ code: String, _ message: String) { StandardError.write("BackgroundTasks: \(message)") }
    func fault(_ code: String, _ message: String) {}
    func beginAssertion(_ name: String) -> UInt64? { nil }
    func endAssertion(_ assertion: UInt64) {}
}
