import HandlerRegistry
import Launching
import LinuxSystem
import RequestStore
import Scheduling
import TaskModel

/// How the scheduler's actions are done.
extension TaskHost {
    func perform(_ action: SchedulerAction) async {
        switch action {
        case .launch(let id, let isSimulated, let priority, let explanation):
            await startLaunch(of: id, isSimulated: isSimulated, priority: priority, because: explanation)
        case .expire(let id, let reason, let explanation):
            running[id]?.stopExplanation = explanation
            if running[id]?.client != nil { return await expireInClient(id, reason) }
            // Activities hear first that they should defer: their handlers ask for that, and for nothing else.
            if running[id]?.record.kind == .activity {
                running[id]?.shouldDefer = true
                tellConditions(to: id)
            }
            launcher.expire(id, reason: reason)
        case .setCPULimitRelaxed(let id, let isRelaxed):
            guard let launch = running[id], launch.client == nil else { return }
            log.append(
                .info, isRelaxed ? "CPU limit lifted on external power" : "CPU limit in force",
                launch: id, identifier: launch.record.identifier)
            launcher.setCPULimit(id, isRelaxed ? nil : limits(of: launch.request).cpu)
        case .measureCPU(let id):
            // A launch that is not there any more has no lease either.
            if running[id]?.client != nil { return await schedule(.cpuMeasured(id, cpuInClient(id))) }
            if let usage = await launcher.usage()[id] { await schedule(.cpuMeasured(id, usage.cpuTime)) }
        case .setPriority(let id, let priority):
            running[id]?.priority = priority
            if running[id]?.client != nil { return }
            launcher.setPriority(id, priority)
        case .setShouldDefer(let id, let isDeferred):
            askToDefer(id, isDeferred)
        case .ask(let id, let rationale):
            guard let launch = running[id] else { return }
            log.append(
                .notice,
                "\(rationale.quantity) is \(rationale.observed); keep going? (bgtask answer \(id) yes|no)",
                launch: id,
                identifier: launch.record.identifier)
            happenings.send(.launchAsked(id, launch.record.request, rationale))
        case .saveBundleState(let bundle, let state):
            keep(state, of: bundle)
        case .submitScheduled(let identifier, let bundle, let earliest, let deadline):
            await submitScheduled(identifier, bundle: bundle, earliest: earliest, deadline: deadline)
        case .findDate(let identifier, let expression, let timeZone, let after):
            await findDate(identifier, expression: expression, timeZone: timeZone, after: after)
        case .cancelRequest(let id, let reason):
            await cancelRequest(id, reason: reason)
        case .wake:
            // Set as soon as it was said; see schedule(_:).
            break
        }
    }

    /// Sets the alarms: the scheduler's, and a retry of what the store could not take.
    func armTimer() {
        let isBehind = !unsavedEnds.isEmpty || hasUnstoredBundles
        let retry = isBehind ? moments.now().boot + .seconds(5) : nil
        let boot = [wake.boot, retry, clientDeadlines.values.min()].compactMap(\.self).min()
        timer.set(bootAt: boot, wallAt: wake.wall)
        if case .success(let alarm) = machineAlarm { alarm.set(wake.machine) }
    }

    /// Records a launch, then asks the launcher for it: what the launcher knows, the store knows.
    private func startLaunch(
        of id: RequestID, isSimulated: Bool, priority: LaunchPriority, because explanation: Explanation
    ) async {
        let now = moments.now()
        starting.insert(id)
        defer { starting.remove(id) }
        guard let request = pending[id], phase == .serving, sleepDelay == nil else {
            await schedule(.launchNotStarted(id, retry: now.wall + .seconds(10)))
            return
        }
        // In a client nothing has to be prepared.
        let client = client(of: id)
        var prepared: Result<PreparedLaunch, SubmissionError>?
        let record: LaunchRecord
        do {
            if client == nil { prepared = try await prepare(request) }
            record = try await store.beginLaunch(
                of: id, at: now.wall,
                isolation: client == nil ? launcher.isolation.groupKill.rawValue : "inProcess",
                libraryHash: client == nil ? handler(for: request)?.libraryHash : nil,
                isSimulated: isSimulated,
                explanation: ExplanationText.encode(explanation))
        } catch {
            log.append(.error, "not launched: \(error)", identifier: request.identifier)
            await schedule(.launchNotStarted(id, retry: now.wall + .seconds(10)))
            return
        }
        pending[id] = nil
        vetoes.forget(id)
        let isDebugged = debugged.remove(id) != nil
        let declaration = handler(for: request)?.manifest.declaration(for: request.identifier)
        running[record.id] = RunningLaunch(
            record: record, request: request,
            // A client that lost its launch may still work at it: it submits again by itself.
            isAtMostOnce: client != nil || declaration?.isAtMostOnce == true, priority: priority)
        running[record.id]?.client = client?.id
        running[record.id]?.libraryCopies = (try? prepared?.get())?.handler.libraryCopies ?? []
        happenings.send(.launchStarted(record))
        log.append(
            .info, "launching, attempt \(record.attempt)\(isSimulated ? ", simulated" : "")",
            launch: record.id, identifier: record.identifier)
        if case .success(let ready) = prepared {
            do {
                let directory = try directories.makeTemporary(for: record.id)
                let conditions = ready.program == nil ? handlerConditions(of: record.bundle) : nil
                running[record.id]?.conditions = conditions
                let order = ready.order(
                    for: record, priority: priority, in: directory, isDebugged: isDebugged,
                    conditions: conditions)
                launcher.launch(order)
            } catch {
                prepared = .failure(
                    SubmissionError(
                        code: .unavailable, subject: "\(record.id)", finding: "\(error)",
                        remedy: "Make room in \(configuration.stateDirectory)"))
            }
        }
        await schedule(.launchStarted(record.id, id))
        // The word of the sleep may have come while it was being recorded.
        if sleepDelay != nil, request.isDiscretionary {
            await schedule(.expireRequested(record.id, .systemSleep))
        }
        if let client { await begin(record.id, in: client) }
        if case .failure(let error) = prepared {
            let end = LaunchEnd(outcome: .failed, reason: .loadFailed, message: "\(error)")
            await handle(
                .ended(
                    record.id, end, cpuTime: .zero, cpuIsLowerBound: false, peakMemory: nil, at: moments.now()
                ))
        }
    }

    /// Everything of a launch that does not need its number.
    private func prepare(_ request: TaskRequest) async throws -> Result<PreparedLaunch, SubmissionError> {
        guard let handler = handler(for: request),
            let declaration = handler.manifest.declaration(for: request.identifier)
        else {
            return .failure(notPermitted(request.identifier))
        }
        guard handler.canLaunch(request.identifier) else {
            return .failure(noClient(for: request.identifier))
        }
        let dataDirectory = try await directories.data(of: request.bundle)
        let program: [UInt8]?
        do {
            program = try handler.manifest.encodeProgram(
                payload: request.submission.payload, for: request.identifier, dataDirectory: dataDirectory)
        } catch {
            return .failure(error)
        }
        return .success(
            PreparedLaunch(
                request: request, handler: handler, declaration: declaration, program: program,
                checkpoint: try await store.checkpoint(of: request.id),
                lastSuccess: try await store.lastSuccess(of: request.identifier),
                dataDirectory: dataDirectory,
                executable: program == nil ? executable(for: handler, beside: dataDirectory) : nil,
                environment: configuration.taskEnvironment))
    }

    private func submitScheduled(
        _ identifier: TaskIdentifier, bundle: BundleIdentifier, earliest: WallTime, deadline: WallTime
    ) async {
        guard let declaration = declaration(for: identifier) else { return }
        var submission = TaskSubmission(identifier: identifier, origin: .schedule)
        submission.earliestBeginDate = earliest
        do {
            let acceptance = try await store.accept(
                submission, bundle: bundle, kind: declaration.kind, at: moments.now().wall,
                deadline: deadline, pendingLimit: nil)
            if acceptance.state == .pending { await take(acceptance) }
        } catch {
            log.append(.error, "its schedule's request was not stored: \(error)", identifier: identifier)
            await schedule(.scheduleNotStored(identifier))
        }
    }

    func cancelRequest(_ id: RequestID, reason: Reason) async {
        guard let request = pending.removeValue(forKey: id) else { return }
        clientOfRequest[id] = nil
        vetoes.forget(id)
        do {
            _ = try await store.cancelPending(id, at: moments.now().wall, reason: reason)
            happenings.send(.requestCancelled(id, request.identifier, reason))
        } catch {
            log.append(.error, "not cancelled in the store: \(error)", identifier: request.identifier)
        }
    }

    /// The limits that a request's launches get: its manifest's, or its kind's where no manifest has it any more.
    func limits(of request: TaskRequest) -> LaunchLimits {
        handler(for: request)?.manifest.declaration(for: request.identifier)?.limits
            ?? .standard(for: request.kind)
    }
}
