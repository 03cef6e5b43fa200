public import Recording
import Scheduling
public import TaskModel

/// What launches did according to a log: how long they worked, what CPU time they took, how they ended, what
/// they submitted.
///
/// The n-th request of an identifier that is launched gets the plan of the n-th one in the log. Beyond them,
/// and where the log does not tell how much work there was in all, the identifier's median counts.
public struct RecordedLaunches: LaunchModel {
    private var plans: [TaskIdentifier: [LaunchPlan]] = [:]
    private let other: TypicalLaunches

    /// One request's launches.
    private struct Job {
        var identifier: TaskIdentifier
        var work = Duration.zero
        var cpu = Duration.zero
        var outcome: Outcome?
        var readyAt: Duration?
        var hasProgress = false
        var attempts = 0
        var submissions: [LaunchPlan.Submission] = []
    }

    /// Reads the launches of a log.
    ///
    /// - Parameters:
    ///   - segments: The log, oldest first.
    ///   - seed: For identifiers that the log does not know.
    public init(_ segments: [RecordedSegment], seed: UInt64 = 1) {
        other = TypicalLaunches(seed: seed)
        var requests: [RequestID: TaskRequest] = [:]
        var jobs: [RequestID: Job] = [:]
        var order: [RequestID] = []
        var running: [LaunchID: RequestID] = [:]
        for entry in segments.lazy.flatMap(\.entries) {
            switch entry.event {
            case .submitted(let request):
                if request.submission.origin == .handler, requests[request.id] == nil {
                    let own = running.filter { requests[$0.value]?.bundle == request.bundle }
                    Self.attribute(request, at: entry.at, own, &jobs)
                }
                requests[request.id] = request
            case .launchStarted(let id, let request):
                guard let identifier = requests[request]?.identifier else { continue }
                running[id] = request
                if jobs[request] == nil { order.append(request) }
                jobs[request, default: Job(identifier: identifier)].attempts += 1
            case .launchReady(let id):
                if let request = running[id] { jobs[request]?.readyAt = entry.at.monotonic }
            case .progressed(let id, _):
                if let request = running[id] { jobs[request]?.hasProgress = true }
            case .launchEnded(let id, _, let ending):
                guard let request = running.removeValue(forKey: id), let ready = jobs[request]?.readyAt else {
                    continue
                }
                jobs[request]?.work += max(.zero, entry.at.monotonic - ready)
                jobs[request]?.cpu += ending.cpuTime
                jobs[request]?.outcome = ending.outcome
                jobs[request]?.readyAt = nil
            default: break
            }
        }
        for id in order {
            guard let job = jobs[id], let plan = Self.plan(of: job) else { continue }
            plans[job.identifier, default: []].append(plan)
        }
    }

    /// A handler submits for its own bundle; where several launches of it run, most likely its own identifier
    /// again.
    private static func attribute(
        _ request: TaskRequest, at now: Moment, _ running: [LaunchID: RequestID],
        _ jobs: inout [RequestID: Job]
    ) {
        let candidates = running.sorted { $0.key > $1.key }.map(\.value)
        guard
            let owner = candidates.first(where: { jobs[$0]?.identifier == request.identifier })
                ?? candidates.first(where: { jobs[$0]?.readyAt != nil }),
            let ready = jobs[owner]?.readyAt
        else { return }
        var submission = request.submission
        submission.earliestBeginDate = nil
        jobs[owner]?.submissions.append(
            LaunchPlan.Submission(
                after: now.monotonic - ready, submission: submission,
                delay: request.submission.earliestBeginDate.map { max(.zero, $0 - now.wall) }))
    }

    /// What is known of a job that ended by itself; `nil` for one that was cut off.
    private static func plan(of job: Job) -> LaunchPlan? {
        guard let outcome = job.outcome, outcome == .succeeded || outcome == .failed || outcome == .crashed
        else {
            return nil
        }
        var plan = LaunchPlan(
            work: max(.milliseconds(1), job.work),
            cpuShare: job.work > .zero ? job.cpu.inSeconds / job.work.inSeconds : 0,
            resumes: job.attempts > 1,
            progressPeriod: job.hasProgress ? .seconds(10) : nil)
        plan.outcome = outcome
        plan.submissions = job.submissions
        return plan
    }

    /// The plan of the request that was this identifier's `ordinal`-th.
    public func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
        guard let known = plans[request.identifier], !known.isEmpty else {
            return other.plan(for: request, ordinal: ordinal)
        }
        if ordinal < known.count { return known[ordinal] }
        return known.sorted { $0.work < $1.work }[known.count / 2]
    }
}
