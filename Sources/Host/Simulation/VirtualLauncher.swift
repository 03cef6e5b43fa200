import TaskModel

/// A launcher in memory: launches do what their plans say, and report it as those of processes do.
struct VirtualLauncher {
    /// One launch.
    struct Launch {
        let order: LaunchOrder
        let plan: LaunchPlan
        /// What earlier attempts did of its work.
        let doneBefore: Duration
        /// When its handler was called, on CLOCK_MONOTONIC; `nil` before.
        var readyAt: Duration?
        var expiration: Reason?
        /// The limit in force; `nil` is none.
        var cpuLimit: CPULimit?
        /// Raised when its end moves: the end that was entered before does not come.
        var endNumber = 0
        var limitNumber = 0
        var ticks: Int64 = 0

        /// How long its handler has run.
        func runTime(at now: Moment) -> Duration { readyAt.map { now.monotonic - $0 } ?? .zero }

        func cpuTime(at now: Moment) -> Duration { runTime(at: now) * plan.cpuShare }
    }

    /// What a launch does by itself.
    private enum Step {
        /// Its handler is called.
        case ready
        /// It reports progress.
        case progress
        /// It submits the request of that place in its plan.
        case submit(Int)
        /// Its CPU time reaches its limit; counts only for the limit that was put into force with this
        /// number.
        case cpuLimit(Int)
        /// It ends: its work is done, or it answers its expiration; counts only with its newest number.
        case end(Int)
    }

    /// A request's plan across its attempts.
    private struct Job {
        var plan: LaunchPlan
        var done = Duration.zero
    }

    /// What runs.
    private(set) var running: [LaunchID: Launch] = [:]
    private var jobs: [RequestID: Job] = [:]
    private var ordinals: [TaskIdentifier: Int] = [:]
    private var steps = Agenda<(id: LaunchID, step: Step)>()
    private var lastCall: UInt64 = 0
    private let model: any LaunchModel

    init(model: any LaunchModel) { self.model = model }

    /// When a launch does something next, on CLOCK_BOOTTIME.
    var next: Duration? { steps.next }

    // MARK: Orders

    /// Starts a launch of a request.
    mutating func launch(_ order: LaunchOrder, of request: TaskRequest, at now: Moment) {
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
            cpuLimit: order.limits.cpu)
        add(.ready, of: order.id, at: now.boot + job.plan.startUp)
    }

    /// Tells a launch to stop: it does so as fast as its plan says, at the latest when its grace ends.
    mutating func expire(_ id: LaunchID, _ reason: Reason, at now: Moment) -> LaunchEvent? {
        guard var launch = running[id], launch.expiration == nil else { return nil }
        launch.expiration = reason
        launch.endNumber += 1
        running[id] = launch
        add(
            .end(launch.endNumber), of: id,
            at: now.boot + min(launch.order.limits.lease.gracePeriod, launch.plan.answer))
        return .expiring(id, reason, at: now)
    }

    /// Kills a launch.
    mutating func kill(_ id: LaunchID, _ reason: Reason, at now: Moment) -> LaunchEvent? {
        running[id].map { end(id, $0, LaunchEnd(outcome: .killed, reason: reason), at: now) }
    }

    /// Puts a CPU limit into force; `nil` lifts it.
    ///
    /// It counts from an empty window; the launch burns evenly, so that its end is known at once.
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

    /// What the next launch that does something reports of it; `nil` if it reports nothing.
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
        case .cpuLimit(let number):
            return number == launch.limitNumber ? expire(id, .cpuLimit, at: now) : nil
        case .end(let number):
            return number == launch.endNumber ? end(id, launch, launch.plannedEnd, at: now) : nil
        }
    }

    private mutating func becomeReady(_ id: LaunchID, _ launch: Launch, at now: Moment) {
        running[id]?.readyAt = now.monotonic
        // What it submits with its last breath comes before its end.
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
        jobs[launch.order.request]?.done = launch.doneBefore + launch.runTime(at: now)
        return .ended(
            EndedLaunch(
                id: id, end: end, at: now, cpuTime: launch.cpuTime(at: now), cpuIsLowerBound: false))
    }

    /// A request is over: no further attempt asks for its plan.
    mutating func forget(_ request: RequestID) { jobs[request] = nil }

    /// The host is gone, and every launch with it; what they had done is lost.
    mutating func loseAll() {
        running = [:]
        steps = Agenda()
    }

    /// The machine sleeps for so long: what launches would do comes later by that.
    mutating func sleep(for gap: Duration) { steps.delay(by: gap) }

    private mutating func add(_ step: Step, of id: LaunchID, at boot: Duration) {
        steps.add((id, step), at: boot)
    }
}

extension VirtualLauncher.Launch {
    /// How it ends when its work is done, or when it has answered its expiration.
    fileprivate var plannedEnd: LaunchEnd {
        if let expiration {
            let isKilled = plan.answer > order.limits.lease.gracePeriod
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
