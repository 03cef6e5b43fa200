import Scheduling
import TaskModel

/// One launch of a virtual host.
struct VirtualLaunch: Sendable {
    let request: TaskRequest
    let plan: LaunchPlan
    let declaration: TaskDeclaration?
    /// What earlier attempts did of its work.
    let doneBefore: Duration
    /// When its handler was called, on CLOCK_MONOTONIC; `nil` before.
    var readyAt: Duration?
    var expiration: Reason?
    /// Raised when its end moves: the end that was entered before does not come.
    var endNumber = 0
    var limitNumber = 0
    var isRelaxed = false
    var ticks: Int64 = 0

    /// How long its handler has run.
    func runTime(at now: Moment) -> Duration { readyAt.map { now.monotonic - $0 } ?? .zero }

    func cpuTime(at now: Moment) -> Duration { runTime(at: now) * plan.cpuShare }
}

/// What launches do, and what becomes of their requests.
extension VirtualHost {
    mutating func begin(_ request: TaskRequest, as id: LaunchID) {
        let ordinal = ordinals[request.identifier] ?? 0
        let job: Job
        if let known = jobs[request.id] {
            job = known
        } else {
            job = Job(plan: model.plan(for: request, ordinal: ordinal))
            ordinals[request.identifier] = ordinal + 1
        }
        jobs[request.id] = job
        running[id] = VirtualLaunch(
            request: request, plan: job.plan,
            declaration: scheduler.declaration(of: request.identifier, in: request.bundle),
            doneBefore: job.plan.resumes ? job.done : .zero)
        agenda.add(.process(id, .ready), at: now.boot + job.plan.startUp)
    }

    mutating func take(_ step: ProcessStep, of id: LaunchID) {
        guard let launch = running[id] else { return }
        switch step {
        case .ready: becomeReady(id, launch)
        case .progress:
            guard launch.expiration == nil, let period = launch.plan.progressPeriod else { return }
            running[id]?.ticks += 1
            let total = max(1, (launch.plan.work / period).rounded(.up))
            let before = Int64((launch.doneBefore / period).rounded(.down))
            tell(
                .progressed(
                    id, TaskProgress(completed: before + launch.ticks + 1, total: max(Int64(total), 1))))
            agenda.add(.process(id, .progress), at: now.boot + period)
        case .submit(let place):
            let planned = launch.plan.submissions[place]
            var submission = planned.submission
            submission.earliestBeginDate = planned.delay.map { now.wall + $0 }
            submit(submission)
        case .cpuLimit(let number):
            guard number == launch.limitNumber, !launch.isRelaxed, launch.expiration == nil else { return }
            running[id]?.expiration = .cpuLimit
            tell(.launchExpiring(id))
            answer(id)
        case .end(let number):
            if number == launch.endNumber { end(id, launch) }
        }
    }

    private mutating func becomeReady(_ id: LaunchID, _ launch: VirtualLaunch) {
        let ready = now.monotonic
        running[id]?.readyAt = ready
        tell(.launchReady(id))
        guard let launch = running[id], launch.expiration == nil else { return }
        let work = max(.milliseconds(1), launch.plan.work - launch.doneBefore)
        agenda.add(.process(id, .end(launch.endNumber)), at: now.boot + work)
        if let period = launch.plan.progressPeriod {
            agenda.add(.process(id, .progress), at: now.boot + period)
        }
        for (place, planned) in launch.plan.submissions.enumerated() where launch.doneBefore == .zero {
            agenda.add(.process(id, .submit(place)), at: now.boot + planned.after)
        }
        setCPULimit(id, isRelaxed: launch.isRelaxed)
    }

    /// A limit in force counts from an empty window; the launch burns evenly, so that its end is known at
    /// once.
    mutating func setCPULimit(_ id: LaunchID, isRelaxed: Bool) {
        guard var launch = running[id] else { return }
        launch.isRelaxed = isRelaxed
        launch.limitNumber += 1
        running[id] = launch
        guard !isRelaxed, launch.readyAt != nil, let limit = limits(of: launch).cpu,
            launch.plan.cpuShare * limit.window.inSeconds > limit.quota.inSeconds
        else { return }
        agenda.add(
            .process(id, .cpuLimit(launch.limitNumber)),
            at: now.boot + .milliseconds(Int64(limit.quota.inSeconds / launch.plan.cpuShare * 1000)))
    }

    mutating func expire(_ id: LaunchID, _ reason: Reason) {
        guard running[id] != nil, running[id]?.expiration == nil else { return }
        running[id]?.expiration = reason
        answer(id)
    }

    /// It stops as fast as its plan says, at the latest when its grace ends.
    private mutating func answer(_ id: LaunchID) {
        guard let launch = running[id] else { return }
        running[id]?.endNumber += 1
        let grace = limits(of: launch).lease.gracePeriod
        agenda.add(
            .process(id, .end(launch.endNumber + 1)), at: now.boot + min(grace, launch.plan.answer))
    }

    private mutating func end(_ id: LaunchID, _ launch: VirtualLaunch) {
        running[id] = nil
        let isKilled = launch.expiration != nil && launch.plan.answer > limits(of: launch).lease.gracePeriod
        let outcome = launch.expiration == nil ? launch.plan.outcome : isKilled ? .killed : .expired
        var putBack: TaskRequest?
        if let notBefore = putBackDate(of: launch, outcome) {
            var request = launch.request
            request.attempt += 1
            if outcome == .failed || outcome == .crashed { request.failures += 1 }
            request.notBefore = notBefore > now.wall ? notBefore : nil
            let done = launch.doneBefore + launch.runTime(at: now)
            jobs[request.id]?.done = done
            // As the store does: a newer request of the identifier stays in its place.
            if !pending.values.contains(where: { $0.identifier == request.identifier }) { putBack = request }
        }
        if let putBack { pending[putBack.id] = putBack } else { jobs[launch.request.id] = nil }
        tell(
            .launchEnded(
                id, putBack: putBack,
                ending: LaunchEnding(outcome: outcome, cpuTime: launch.cpuTime(at: now))))
    }

    /// When its request is tried again, by the host's own rule; `nil` if it is not.
    private func putBackDate(of launch: VirtualLaunch, _ outcome: Outcome) -> WallTime? {
        if PutBackRule.applies(
            kind: launch.request.kind, outcome: outcome, completed: false, expiration: launch.expiration,
            isAtMostOnce: launch.declaration?.isAtMostOnce ?? false)
        {
            return outcome == .lost
                ? now.wall + scheduler.settings.backOff(afterAttempt: launch.request.attempt) : now.wall
        }
        return PutBackRule.retryDelay(
            outcome: outcome, expiration: launch.expiration, retry: launch.declaration?.retry,
            failures: launch.request.failures
        ).map { now.wall + $0 }
    }

    private func limits(of launch: VirtualLaunch) -> LaunchLimits {
        launch.declaration?.limits ?? .standard(for: launch.request.kind)
    }
}
