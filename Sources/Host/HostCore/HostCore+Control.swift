import ControlWire
import HandlerRegistry
import Scheduling
import TaskModel

/// The calls of the control API that change something.
extension HostCore {
    mutating func take(_ asked: HostCall, of call: CallID, isRescanned: Bool = false) {
        switch asked {
        case .submit(let submission, let process): submit(submission, for: .call(call), from: process)
        case .push(let push): deliver(push, call, asked, isRescanned)
        case .open(let bundle): open(bundle, call, asked, isRescanned)
        case .cancel(let target): cancel(target, call)
        case .simulate(let identifier, let debug, let learn, let payload):
            simulate(identifier, call, debug: debug, learn: learn, payload: payload)
        case .expire(let target, let reason): expire(target, reason, call)
        case .change(let bundle, let change): self.change(bundle, change, call)
        case .pause(let order): pause(order, call)
        case .keepGoing(let id, let isWanted): keepGoing(id, isWanted, call)
        case .transfer(let request): beginTransfer(request, call)
        case .transfers(let requests): beginTransfers(requests, call)
        case .cancelTransfer(let id): cancelTransfer(id, call)
        case .connect(let patterns, let process): connect(patterns, process, call, asked, isRescanned)
        case .report(let id, let report, let process, let cpu):
            take(report, of: id, from: process, cpu, call)
        }
    }

    /// Reads the directories of manifests and plugins again, and then handles a call again that found no
    /// manifest.
    mutating func rescan(for call: CallID, _ asked: HostCall) {
        guard phase == .serving else { return refuse(call, notServing("bgtaskd")) }
        let ticket = nextWork()
        parked[ticket] = .call(call, asked)
        emit(.work(.scan(ticket)))
    }

    // MARK: Apps, bundles

    private mutating func open(
        _ bundle: BundleIdentifier, _ call: CallID, _ asked: HostCall, _ isRescanned: Bool
    ) {
        guard let identifier = app(of: bundle)?.manifest.appLaunch else {
            if !isRescanned { return rescan(for: call, asked) }
            guard handlers[bundle] != nil else {
                return refuse(
                    call,
                    SubmissionError(
                        code: .notFound, subject: "\(bundle)",
                        finding: "no installed manifest has this bundle",
                        remedy: "To list the installed manifests: bgtask plugins"))
            }
            return refuse(
                call,
                SubmissionError(
                    code: .notPermitted, subject: "\(bundle)",
                    finding: "it has no app: its library does not export bgtask_app_entry",
                    remedy:
                        "Submit one of its tasks: bgtask submit; or report a use of it: bgtask used \(bundle)"
                ))
        }
        feed(.used(bundle))
        drainEvents()
        submit(TaskSubmission(identifier: identifier, origin: .client), for: .call(call))
    }

    private mutating func change(_ bundle: BundleIdentifier, _ change: BundleChange, _ call: CallID) {
        guard scheduler.knows(bundle) else { return refuse(call, unknownBundle(bundle)) }
        switch change {
        case .used: feed(.used(bundle))
        case .foreground(let isForeground): feed(.foregroundChanged(bundle, isForeground))
        case .dismissed:
            // Requests that wait for an earlier request are cancelled first. Otherwise, they would become
            // pending when the scheduler cancels the earlier ones.
            for request in requests.appendedContinued(of: bundle) { cancel(request.id, .cancelledByUser) }
            cancelSessions(of: bundle)
            feed(.dismissed(bundle))
        case .refresh(let permission):
            do {
                try scheduler.checkRefreshSwitch(of: bundle, to: permission, byAdministrator: false)
            } catch {
                return refuse(call, error)
            }
            feed(.refreshSwitched(bundle, permission))
        case .budget(let launches, let cpu, let burst):
            feed(.budgetChanged(bundle, launches: launches, cpu: cpu, burst: burst))
        case .paused(let until), .drained(let until):
            if let problem = problem(withEnd: until, of: "\(bundle)") { return refuse(call, problem) }
            let isDrained = change == .drained(until: until)
            log(
                .notice,
                "\(bundle) is \(isDrained ? "drained" : "paused")\(until.map { " until \(Timestamp($0))" } ?? "")"
            )
            var pause = Pause(since: now.wall.rounded, until: until?.rounded)
            pause.letsEnd = isDrained ? true : nil
            feed(.bundlePaused(bundle, pause))
        case .resumed:
            log(.notice, "\(bundle) is resumed")
            feed(.bundlePaused(bundle, nil))
        }
        // The caller gets the answer when the change is durable.
        bundles.wait(for: bundle, call)
    }

    private mutating func keepGoing(_ id: LaunchID, _ isWanted: Bool, _ call: CallID) {
        guard let launch = launches[id], launch.stage != .ending else {
            return refuse(
                call,
                SubmissionError(
                    code: .notFound, subject: "\(id)", finding: "it is not running",
                    remedy: "To list the launches: bgtask launches"))
        }
        feed(.answered(id, keepGoing: isWanted))
        answer(call, .done)
    }

    // MARK: Pauses

    private mutating func pause(_ order: PauseOrder, _ call: CallID) {
        guard phase == .serving else { return refuse(call, notServing("the host")) }
        var pause: Pause?
        switch order {
        case .until(let end), .drained(let end):
            if let problem = problem(withEnd: end, of: "the host") { return refuse(call, problem) }
            pause = Pause(since: now.wall.rounded, until: end?.rounded)
            if order == .drained(until: end) { pause?.letsEnd = true }
        case .ended: break
        }
        log(
            .notice,
            pause.map {
                "all bundles are \($0.letsEnd == true ? "drained" : "paused")\($0.until.map { " until \(Timestamp($0))" } ?? "")"
            }
                ?? "the pause of all bundles has ended")
        store(.remember(.pause(pause)), .pause(call, pause))
        feed(.pauseChanged(pause))
    }

    private func problem(withEnd end: WallTime?, of subject: String) -> SubmissionError? {
        guard let end, end <= now.wall else { return nil }
        return SubmissionError(
            code: .invalidRequest, subject: subject,
            finding: "the end of the pause, \(Timestamp(end)), has passed",
            remedy: "Choose a later time")
    }

    mutating func pauseStored(
        _ call: CallID, _ pause: Pause?, _ result: Result<StoreAnswer, StoreRefusal>
    ) {
        if case .failure(let refusal) = result {
            log(.error, "the pause could not be stored: \(refusal)")
            return refuse(
                call,
                SubmissionError(
                    code: .unavailable, subject: "the host",
                    finding: "the change is in force, but it could not be stored, so it is lost when the "
                        + "host stops",
                    remedy: "See 'bgtask logs' for the cause, and repeat the command"))
        }
        // The answer is the pause that this call ordered. The present pause may already be that of a later
        // call, which the store has not confirmed yet.
        answer(call, .paused(pause))
    }

    // MARK: Simulated launches

    private mutating func simulate(
        _ identifier: TaskIdentifier, _ call: CallID, debug: Bool, learn: Bool, payload: String?
    ) {
        // Of a task with a queue, the scheduler knows whether another launch can start.
        if declaration(for: identifier)?.queue == nil, let other = launches.launch(of: identifier) {
            return refuse(
                call,
                SubmissionError(
                    code: .unavailable, subject: "\(identifier)",
                    finding: "it already runs as \(other.record.id)",
                    remedy: "Wait for it, or stop it with 'bgtask expire \(other.record.id)'"))
        }
        // The payload belongs to a request, so another payload needs another request.
        if payload == nil, let waiting = requests.request(of: identifier),
            !requests.withdrawing.contains(waiting.id)
        {
            return simulate(waiting, call, debug: debug, learn: learn)
        }
        var submission = TaskSubmission(identifier: identifier, origin: .simulated)
        submission.payload = payload
        submit(submission, for: .simulation(call, debug: debug, learn: learn))
    }

    mutating func simulate(_ request: TaskRequest, _ call: CallID, debug: Bool, learn: Bool) {
        requests.waitForLaunch(of: request.id, .init(call: call, debug: debug, learn: learn))
        if requests.starting[request.id] == nil { feed(.simulate(request.id)) }
    }

    /// Refuses the callers of `bgtask launch` if the scheduler did not start the request.
    mutating func afterSimulation(of id: RequestID) {
        guard requests.hasLaunchWaiters(of: id), requests.starting[id] == nil,
            let request = requests.pending[id]
        else { return }
        let veto = explain(request, at: now).vetoes.first
        let rationale = veto?.rationale.first
        let finding =
            phase != .serving
            ? "The host is stopping"
            : veto.map {
                rationale?.sentence ?? "The policy \($0.policy) forbids it"
            }
                ?? "The store could not record its launch. The host tries again in \(Int(Self.startRetryDelay.inSeconds)) s"
        let remedy =
            phase != .serving
            ? "Repeat the command when the host runs again"
            : rationale?.remedy
                ?? (veto == nil
                    ? "Wait, and make sure that the disk of the state directory has free space"
                    : "To see what the request waits for: bgtask explain \(request.identifier)")
        failLaunchWaiters(
            of: id,
            SubmissionError(
                code: .unavailable, subject: "\(request.identifier)", finding: "it did not start. \(finding)",
                remedy: remedy))
    }

    mutating func failLaunchWaiters(of id: RequestID, _ error: SubmissionError) {
        for waiter in requests.takeLaunchWaiters(of: id) { refuse(waiter.call, error) }
    }

    func notFound(_ subject: String, _ finding: String) -> SubmissionError {
        SubmissionError(
            code: .notFound, subject: subject, finding: finding,
            remedy:
                "To list what waits: bgtask pending. To list the launches, also those that have ended: bgtask launches"
        )
    }
}
