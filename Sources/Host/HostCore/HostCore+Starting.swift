import HandlerRegistry
import HostSettings
import Scheduling
import TaskModel

/// Performs the scheduler's actions, and starts launches.
///
/// A launch is first recorded in the store, then prepared, and then ordered from the launcher or its client.
extension HostCore {
    /// The time until the scheduler tries a start again that was not possible: 10 s.
    static let startRetryDelay = Duration.seconds(10)

    mutating func perform(_ action: SchedulerAction) {
        switch action {
        case .launch(let id, let isSimulated, let priority, let explanation):
            start(id, isSimulated: isSimulated, priority, because: explanation)
        case .expire(let id, let reason, let explanation): expire(id, reason, because: explanation)
        case .setCPULimitRelaxed(let id, let isRelaxed):
            launches[id]?.isCPURelaxed = isRelaxed
            // The launcher does not have the launch before its order; until then, the change is stored for
            // the order.
            if launches[id]?.stage == .started { setCPULimit(id) }
        case .measureCPU(let id):
            // The launch may have ended since the scheduler asked.
            guard let launch = launches[id] else { return }
            emit(launch.client.map { .measureClient(id, $0) } ?? .measure(id))
        case .setPriority(let id, let priority):
            launches[id]?.priority = priority
            if let launch = launches[id], launch.client == nil, launch.stage == .started {
                emit(.setPriority(id, priority))
            }
        case .setShouldDefer(let id, let isDeferred): askToDefer(id, isDeferred)
        case .ask(let id, let rationale):
            guard let launch = launches[id] else { return }
            log(
                .notice,
                "\(rationale.statement). Let \(id) continue with 'bgtask answer \(id) yes', or stop it with "
                    + "'bgtask answer \(id) no'",
                launch: id)
            emit(.publish(.launchAsked(id, launch.record.request, rationale)))
        case .saveBundleState(let bundle, let state):
            bundles.keep(state, of: bundle, at: now.boot)
            notice(state.crashPause, of: bundle)
        case .submitScheduled(let identifier, let bundle, let earliest, let deadline):
            submitScheduled(identifier, bundle, earliest: earliest, deadline: deadline)
        case .findDate(let identifier, let expression, let timeZone, let after):
            emit(.work(.findDate(identifier, expression: expression, timeZone: timeZone, after: after)))
        case .cancelRequest(let id, let reason): cancel(id, reason)
        case .wake:
            // `drainEvents()` handles this action.
            break
        }
    }

    // MARK: Recording the start

    /// Starts to launch a request: the store records the launch before the launcher gets it.
    ///
    /// Meanwhile, the launch's directories are created, under the number that the launch will have.
    private mutating func start(
        _ id: RequestID, isSimulated: Bool, _ priority: LaunchPriority, because explanation: Explanation
    ) {
        guard let request = requests.pending[id], phase == .serving,
            !requests.withdrawing.contains(id)
        else { return feed(.launchNotStarted(id, retry: now.wall + Self.startRetryDelay)) }
        let client = requests.clients[id]
        lastLaunch += 1
        let launch = LaunchID(rawValue: lastLaunch)
        var start = RequestBook.Start(launch: launch, isSimulated: isSimulated, priority: priority)
        start.client = client
        start.handler = client == nil ? handler(for: request) : nil
        requests.start(id, start)
        store(
            .begin(
                id,
                LaunchTerms(
                    id: launch, at: now.wall, isolation: isolation(of: start),
                    libraryHash: start.handler?.libraryHash,
                    isSimulated: start.isSimulated, explanation: text(of: explanation))),
            .begin(id))
        if let handler = start.handler, handler.canLaunch(request.identifier) {
            emit(.work(.prepare(launch, handler, request.identifier, payload: request.submission.payload)))
        }
    }

    /// What isolates a launch, as its record says it.
    private func isolation(of start: RequestBook.Start) -> String {
        guard start.client == nil else { return "inProcess" }
        return surroundings.isolation.words(for: start.handler?.manifest.sandbox ?? SandboxDeclaration())
    }

    mutating func begun(_ id: RequestID, _ result: Result<StoreAnswer, StoreRefusal>) {
        // If the request was cancelled meanwhile, its start has been removed.
        guard let request = requests.pending[id], let start = requests.endStart(id) else { return }
        switch result {
        case .success(.begun(let begun)):
            requests.refusedStarts.removeAll()
            begin(request, begun, start)
        case .success: return
        case .failure(let refusal):
            removeDirectories(of: start)
            requests.refusedStarts.note(refusal, for: id)
            log(.error, "not launched: \(refusal)", identifier: request.identifier)
            feed(.launchNotStarted(id, retry: now.wall + Self.startRetryDelay))
            failLaunchWaiters(of: id, refusal.asSubmissionError)
            // The client of the request may have left during the write.
            cancelWithoutClient(request)
        }
    }

    /// Removes the directories of a start that the store did not record.
    ///
    /// If they are still being created, ``prepared(_:_:)`` removes them.
    mutating func removeDirectories(of start: RequestBook.Start) {
        if start.place != nil { emit(.work(.removeTemporary(start.launch))) }
    }

    private mutating func begin(_ request: TaskRequest, _ begun: BegunLaunch, _ start: RequestBook.Start) {
        let record = begun.record
        let (client, handler) = (start.client, start.handler)
        let waiters = requests.takeLaunchWaiters(of: request.id)
        requests.remove(request.id, keepsClient: true)
        vetoes.forget(request.id)
        // The manifest that was in force when the launch was decided; it may have been removed since.
        let declaration =
            handler?.manifest.declaration(for: request.identifier) ?? self.declaration(for: request)
        var launch = OpenLaunch(
            begun: begun, request: request, handler: handler,
            // A client may still work on a launch that the host has ended, so the host does not put its
            // request back. The client can submit it again.
            isAtMostOnce: client != nil || declaration?.isAtMostOnce == true, priority: start.priority)
        launch.client = client
        launch.libraryCopies = handler?.libraryCopies ?? []
        launch.isDebugged = waiters.contains(where: \.debug)
        launch.isLearning = waiters.contains(where: \.learn)
        launches.insert(launch)
        emit(.publish(.launchStarted(record)))
        log(
            .info, "launching, attempt \(record.attempt)\(record.isSimulated ? ", by bgtask launch" : "")",
            launch: record.id)
        for waiter in waiters {
            if waiter.debug {
                launches.waitUntilReady(record.id, waiter.call)
            } else {
                answer(waiter.call, .simulated(SimulatedLaunch(record: record, processIdentifier: nil)))
            }
        }
        feed(.launchStarted(record.id, request.id))
        if client != nil {
            beginInClient(record.id)
        } else if handler?.canLaunch(request.identifier) != true {
            endUnstarted(record.id, .failure(notPermitted(request.identifier)))
        } else if let place = start.place {
            prepared(record.id, place)
        }
    }

    // MARK: Preparing and ordering

    mutating func prepared(_ id: LaunchID, _ place: Result<LaunchPlace, SubmissionError>) {
        guard let launch = launches[id] else {
            // The store has not recorded the launch yet, or refused to.
            if !requests.keep(place, of: id) { emit(.work(.removeTemporary(id))) }
            return
        }
        guard launch.stage == .preparing else { return }
        if let reason = launch.stopBeforeStart { return endUnstarted(id, .success(reason)) }
        switch place {
        case .failure(let error): endUnstarted(id, .failure(error))
        case .success(let place):
            guard let handler = launch.handler,
                let declaration = handler.manifest.declaration(for: launch.record.identifier)
            else { return endUnstarted(id, .failure(notPermitted(launch.record.identifier))) }
            if let refusal = handler.refusal(
                by: surroundings.isolation,
                isRequired: settings?.effective.isolationRequirement != .best)
            {
                // Not `unavailable`: the machine will lack the layer at the next attempt, too.
                let error = SubmissionError(
                    code: .notPermitted, subject: "\(launch.record.identifier)", finding: refusal.finding,
                    remedy: refusal.remedy)
                log(.error, "not launched: \(error)", launch: id)
                return endUnstarted(id, .failure(error))
            }
            launches[id]?.stage = .started
            launches[id]?.orderedPriority = launch.priority
            if place.program == nil {
                var conditions = handlerConditions(of: launch.record.bundle)
                conditions.shouldDefer = launch.shouldDefer
                launches[id]?.conditions = conditions
            }
            guard let launch = launches[id] else { return }
            var order = LaunchOrder(
                begun: launch.begun, request: launch.request, handler: handler, declaration: declaration,
                place: place, environment: surroundings.taskEnvironment, priority: launch.priority)
            order.conditions = launch.conditions
            order.isDebugged = launch.isDebugged
            if launch.isLearning { order.observation = .all }
            emit(.launch(order))
            if launch.isCPURelaxed { setCPULimit(id) }
        }
    }

    private mutating func setCPULimit(_ id: LaunchID) {
        guard let launch = launches[id], launch.client == nil else { return }
        let isRelaxed = launch.isCPURelaxed
        log(.info, isRelaxed ? "CPU limit lifted on external power" : "CPU limit in force", launch: id)
        emit(.setCPULimit(id, isRelaxed ? nil : limits(of: launch.request).cpu))
    }

    /// Ends a launch without a process; the cause is an error, or the reason for which it had to stop.
    private mutating func endUnstarted(_ id: LaunchID, _ cause: Result<Reason, SubmissionError>) {
        let end =
            switch cause {
            case .success(let reason): LaunchEnd.stopped(reason, message: "it was stopped before it started")
            case .failure(let error): Self.end(with: error)
            }
        ended(EndedLaunch(id: id, end: end, at: now))
    }

    private static func end(with error: SubmissionError) -> LaunchEnd {
        switch error.code {
        // A fault of the host's own, such as a full disk, and not of the request: the next attempt can
        // succeed.
        case .unavailable: LaunchEnd(outcome: .lost, reason: .shortage, message: "\(error)")
        // The next attempt would end in the same way.
        case .unprepared: LaunchEnd(outcome: .failed, reason: .unprepared, message: "\(error)")
        default: LaunchEnd(outcome: .failed, reason: .loadFailed, message: "\(error)")
        }
    }

    private mutating func expire(_ id: LaunchID, _ reason: Reason, because explanation: Explanation?) {
        guard let launch = launches[id], launch.stage != .ending else { return }
        launches[id]?.stopExplanation = explanation
        if launch.client != nil { return expireInClient(id, reason) }
        // The handler of an activity may only read `shouldDefer`, so it gets that before the expiration.
        if launch.record.kind == .activity {
            launches[id]?.shouldDefer = true
            notifyConditions(to: id)
        }
        if launch.stage == .preparing {
            launches[id]?.stopBeforeStart = reason
            return expiring(id, reason)
        }
        emit(.expire(id, reason))
    }
}
