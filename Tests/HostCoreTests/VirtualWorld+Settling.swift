import HandlerRegistry
import Launching
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// The end of a history, and the promises that must hold then.
extension VirtualWorld {
    /// Completes everything that is in progress; nothing fails, and every task succeeds.
    ///
    /// - Throws: A broken promise if something waits that nothing will wake.
    mutating func settle(limit: Int = 20_000) throws {
        for _ in 0..<limit {
            try check()
            if try goOn() { continue }
            if let (id, task) = tasks.min(by: { $0.key < $1.key }) {
                succeed(id, task)
            } else if let (process, id) = openRun {
                report(id, .complete(success: true, message: nil), process: process)
            } else {
                try checkQuiet()
                if isSettled { return try checkEverythingEnded() }
                guard let next = nextAlarm else { throw BrokenPromise("nothing will wake \(unsettled)") }
                pass(max(.zero, next - now.boot))
                ring()
            }
        }
        throw BrokenPromise("it goes on for ever: \(unsettled)")
    }

    /// Lets a stopping host come to its end.
    ///
    /// - Parameter isPatient: Whether clients may use their whole grace periods.
    mutating func drain(isPatient: Bool = false) throws {
        for _ in 0..<4000 where !hasDrained {
            if try goOn() { continue }
            if let (id, task) = tasks.min(by: { $0.key < $1.key }) {
                end(id, LaunchEnd(outcome: .expired, reason: task.expiration ?? .hostShutdown))
            } else if !isPatient, let (process, id) = openRun {
                report(id, .complete(success: false, message: nil), process: process)
            } else if let next = nextAlarm {
                pass(max(.zero, next - now.boot))
                ring()
            } else {
                throw BrokenPromise("a host that was stopped never drains")
            }
        }
        if !hasDrained { throw BrokenPromise("a host that was stopped goes on for ever") }
        kill()
    }

    /// Takes one step of the host's own work, in which nothing fails; returns false if there is none.
    private mutating func goOn() throws -> Bool {
        if !inputs.isEmpty {
            try takeInput()
        } else if !writes.isEmpty {
            commit()
        } else if !work.isEmpty {
            doWork(0)
        } else if !awaits.isEmpty {
            answerAwait(0)
        } else {
            return false
        }
        return true
    }

    private mutating func succeed(_ id: LaunchID, _ task: VirtualTask) {
        guard task.isReady else {
            tasks[id]?.isReady = true
            return inputs.append(.launch(.ready(id, at: now)))
        }
        var end = LaunchEnd(outcome: .succeeded, reason: task.expiration)
        end.completion = true
        self.end(id, end)
    }

    /// A launch that a client is running; `nil` if there is none.
    private var openRun: (process: Int32, LaunchID)? {
        clients.values.flatMap { client in client.runs.keys.map { (client.process, $0) } }
            .min { $0.1 < $1.1 }
    }

    /// Whether each waiting request belongs to a schedule, or no manifest permits it as the kind it was
    /// accepted for.
    private var isSettled: Bool {
        core.nextRetry == nil && core.unsavedEnds.isEmpty
            && scheduled.isSubset(of: core.requests.pending.values.map(\.identifier))
            && core.requests.pending.values.allSatisfy { request in
                request.submission.origin == .schedule
                    || core.declaration(for: request.identifier)?.kind != request.kind
                    // The request that it waits for may be one of these, too.
                    || request.openPredecessors.contains { core.requests.pending[$0] != nil }
            }
    }

    private var unsettled: [String] {
        core.requests.pending.values.map { "\($0.id) \($0.identifier) \(core.explain($0, at: now).vetoes)" }
            + scheduled.subtracting(core.requests.pending.values.map(\.identifier)).map { "\($0)" }
            + core.unsavedEnds.map { "\($0.ended.id)" }
    }

    /// The identifiers that must always have a pending request or a launch.
    private var scheduled: Set<TaskIdentifier> {
        Set(core.schedules.filter { $0.schedule.timing != nil }.map(\.identifier)).subtracting(dateless)
    }

    /// Checks that nothing is left in progress: every call has its answer, and every request that may start
    /// has started.
    private mutating func checkQuiet() throws {
        if let call = unanswered.first { throw BrokenPromise("call \(call.rawValue) was never answered") }
        if !handlerCalls.isEmpty { throw BrokenPromise("a handler's call was never answered") }
        for request in core.requests.pending.values where !core.requests.withdrawing.contains(request.id) {
            for predecessor in request.openPredecessors where store.request(predecessor)?.state == .done {
                throw BrokenPromise("\(request.id) waits for \(predecessor), which has ended")
            }
            let explanation = core.explain(request, at: now)
            if explanation.mayStart, !hasDrained {
                throw BrokenPromise("\(request.id) may start, and does not")
            }
            // Of a queue, only the first request has news for followers.
            if core.requests.queues.isWaiting(request) { continue }
            let vetoes = explanation.vetoes.map(\.policy)
            if core.isFollowed, !vetoes.isEmpty, followers.blocked[request.id] != vetoes {
                let known = followers.blocked[request.id] ?? []
                throw BrokenPromise("\(request.id) is kept by \(vetoes), and followers know \(known)")
            }
            let isOrphan = core.handler(for: request)?.canLaunch(request.identifier) == false
            if isOrphan, core.requests.clients[request.id] == nil {
                throw BrokenPromise("\(request.id) waits for a client that is gone")
            }
        }
    }

    private func checkEverythingEnded() throws {
        if let id = directories.min() { throw BrokenPromise("the temporary directory of \(id) stays") }
        for launch in store.launches(identifier: nil, limit: .max, before: nil) where launch.state != .ended {
            throw BrokenPromise("\(launch.id) has never ended")
        }
        if Set(core.requests.pending.keys) != Set(store.pendingRequests.map(\.id)) {
            throw BrokenPromise("the host and its store have other pending requests")
        }
        for handler in manifests.snapshot.handlers where handler.manifest.appLaunch != nil {
            let bundle = handler.manifest.bundle
            if core.launchedApps[bundle] != handler.libraryHash {
                throw BrokenPromise("the app of \(bundle) was never launched")
            }
        }
        try followers.checkComplete()
    }
}
