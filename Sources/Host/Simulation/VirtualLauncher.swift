import TaskModel

/// A launcher in memory: launches follow their plans, and report the same events as real ones.
struct VirtualLauncher {
    /// A running launch.
    struct Launch {
        let order: LaunchOrder
        let plan: LaunchPlan
        /// How much of its work earlier attempts have done.
        let doneBefore: Duration
        /// When the handler was called, on CLOCK_MONOTONIC; `nil` before that.
        var readyAt: Duration?
        var expiration: Reason?
        /// The present CPU limit; `nil` means none.
        var cpuLimit: CPULimit?
        /// The number of the planned end; it grows when the end moves, so that an earlier plan is ignored.
        var endNumber = 0
        /// The number of the CPU limit; it grows when the limit changes, so that a step for an earlier limit
        /// is ignored.
        var limitNumber = 0
        /// How often the handler has reported progress.
        var ticks: Int64 = 0

        /// How long the handler has run.
        func runTime(at now: Moment) -> Duration { readyAt.map { now.monotonic - $0 } ?? .zero }

        func cpuTime(at now: Moment) -> Duration { runTime(at: now) * plan.cpuShare }
    }

    /// A step of a launch that its plan contains.
    private enum Step {
        /// The handler is called.
        case ready
        /// The handler reports progress.
        case progress
        /// The handler submits the request at this index of the plan.
        case submit(Int)
        /// The handler saves a checkpoint of its work, because it was asked to stop.
        case checkpoint
        /// The CPU time reaches the limit; ignored unless the number is the present ``Launch/limitNumber``.
        case cpuLimit(Int)
        /// The launch ends, because its work is done or because it stops; ignored unless the number is the
        /// present ``Launch/endNumber``.
        case end(Int)
    }

    /// The plan of a request, and the work done in its attempts so far.
    private struct Job {
        var plan: LaunchPlan
        var done = Duration.zero
    }

    /// The running launches.
    private(set) var running: [LaunchID: Launch] = [:]
    private var jobs: [RequestID: Job] = [:]
    private var ordinals: [TaskIdentifier: Int] = [:]
    private var steps = Agenda<(id: LaunchID, step: Step)>()
    private var lastCall: UInt64 = 0
    private let model: any LaunchModel

    init(model: any LaunchModel) { self.model = model }

    /// The time of the next step of any launch, on CLOCK_BOOTTIME; `nil` if there is none.
    var next: Duration? { steps.next }

    // MARK: Orders

    /// Starts a launch for a request.
    mutating func launch(_ order: LaunchOrder, at now: Moment) {
        let request = order.request
        let job: Job
        if let known = jobs[request.id] {
            job = known
        } else {
            let ordinal = ordinals[request.identifier] ?? 0
            job = Job(plan: model.plan(for: request, ordinal: ordinal))
            ordinals[request.identifier] = ordinal + 1
            jobs[request.id] = job
        }
        running[order.id] = Launch(
            order: order, plan: job.plan, doneBefore: job.plan.resumes ? job.done : .zero,
            cpuLimit: order.declaration.limits.cpu)
        add(.ready, of: order.id, at: now.boot + job.plan.startUp)
    }

    /// Asks a launch to stop: it ends after the time in its plan, but at the latest when its grace period
    /// ends.
    mutating func expire(_ id: LaunchID, _ reason: Reason, at now: Moment) -> LaunchEvent? {
        guard var launch = running[id], launch.expiration == nil else { return nil }
        launch.expiration = reason
        launch.endNumber += 1
        running[id] = launch
        if launch.plan.resumes, launch.readyAt != nil { add(.checkpoint, of: id, at: now.boot) }
        add(
            .end(launch.endNumber), of: id,
            at: now.boot + min(launch.order.declaration.limits.lease.gracePeriod, launch.plan.answer))
        return .expiring(id, reason, at: now)
    }

    /// Kills a launch.
    mutating func kill(_ id: LaunchID, _ reason: Reason, at now: Moment) -> LaunchEvent? {
        running[id].map { end(id, $0, LaunchEnd(outcome: .killed, reason: reason), at: now) }
    }

    /// Sets or removes (`nil`) a CPU limit, and starts a new window.
    ///
    /// The launch uses CPU time evenly, so the time when it reaches the limit is known immediately.
    mutating func setCPULimit(_ id: LaunchID, _ limit: CPULimit?, at now: Moment) {
        guard var launch = running[id] else { return }
        launch.cpuLimit = limit
        launch.limitNumber += 1
        running[id] = launch
        guard launch.readyAt != nil, let limit,
            launch.plan.cpuShare * limit.window.inSeconds > limit.quota.inSeconds
        else { return }
        add(
            .cpuLimit(launch.limitNumber), of: id,
            at: now.boot + .milliseconds(Int64(limit.quota.inSeconds / launch.plan.cpuShare * 1000)))
    }

    /// The CPU time of a launch so far; `nil` if it does not run.
    func cpuTime(of id: LaunchID, at now: Moment) -> Duration? { running[id]?.cpuTime(at: now) }

    // MARK: Life

    /// Performs the next step; returns the event that the launch reports, or `nil` if it reports nothing.
    mutating func step(at now: Moment) -> LaunchEvent? {
        guard let (id, step) = steps.removeFirst(), let launch = running[id] else { return nil }
        switch step {
        case .ready:
            if launch.expiration != nil { return nil }
            becomeReady(id, launch, at: now)
            return .ready(id, at: now)
        case .progress:
            guard launch.expiration == nil, let period = launch.plan.progressPeriod else { return nil }
            running[id]?.ticks += 1
            add(.progress, of: id, at: now.boot + period)
            let total = max(1, Int64((launch.plan.work / period).rounded(.up)))
            let before = Int64((launch.doneBefore / period).rounded(.down))
            return .progress(id, TaskProgress(completed: before + launch.ticks + 1, total: total))
        case .submit(let place):
            let planned = launch.plan.submissions[place]
            var submission = planned.submission
            submission.earliestBeginDate = planned.delay.map { now.wall + $0 }
            lastCall += 1
            return .submit(id, call: lastCall, submission)
        case .checkpoint:
            let done = launch.doneBefore + launch.runTime(at: now)
            return .checkpoint(id, Array("\(done.wholeNanoseconds)".utf8))
        case .cpuLimit(let number):
            return number == launch.limitNumber ? expire(id, .cpuLimit, at: now) : nil
        case .end(let number):
            return number == launch.endNumber ? end(id, launch, launch.plannedEnd, at: now) : nil
        }
    }

    private mutating func becomeReady(_ id: LaunchID, _ launch: Launch, at now: Moment) {
        running[id]?.readyAt = now.monotonic
        // Submissions are added before the end, so that a submission at the time of the end comes first.
        for (place, planned) in launch.plan.submissions.enumerated() where launch.doneBefore == .zero {
            add(.submit(place), of: id, at: now.boot + planned.after)
        }
        let work = max(.milliseconds(1), launch.plan.work - launch.doneBefore)
        add(.end(launch.endNumber), of: id, at: now.boot + work)
        if let period = launch.plan.progressPeriod { add(.progress, of: id, at: now.boot + period) }
        setCPULimit(id, launch.cpuLimit, at: now)
    }

    private mutating func end(
        _ id: LaunchID, _ launch: Launch, _ end: LaunchEnd, at now: Moment
    ) -> LaunchEvent {
        running[id] = nil
        jobs[launch.order.request.id]?.done = launch.doneBefore + launch.runTime(at: now)
        return .ended(
            EndedLaunch(
                id: id, end: end, at: now, cpuTime: launch.cpuTime(at: now), cpuIsLowerBound: false))
    }

    /// Removes the plan of a request that has no further attempts.
    mutating func forget(_ request: RequestID) { jobs[request] = nil }

    /// Removes all launches, because the host ended; their work is lost.
    mutating func loseAll() {
        running = [:]
        steps = Agenda()
    }

    /// Delays all steps, because the machine sleeps for this long.
    mutating func sleep(for gap: Duration) { steps.delay(by: gap) }

    private mutating func add(_ step: Step, of id: LaunchID, at boot: Duration) {
        steps.add((id, step), at: boot)
    }
}

extension VirtualLauncher.Launch {
    /// The end of the launch when its work is done, or when it stops after an expiration.
    fileprivate var plannedEnd: LaunchEnd {
        if let expiration {
            let isKilled = plan.answer > order.declaration.limits.lease.gracePeriod
            return isKilled ? LaunchEnd(outcome: .killed, reason: expiration) : .stopped(expiration)
        }
        let reason: Reason? =
            switch plan.outcome {
            case .failed: .handlerFailed
            case .crashed: .signal
            default: nil
            }
        var end = LaunchEnd(outcome: plan.outcome, reason: reason)
        if plan.outcome != .crashed { end.completion = plan.outcome == .succeeded }
        return end
    }
}
