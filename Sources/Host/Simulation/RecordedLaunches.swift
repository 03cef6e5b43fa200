public import Recording
import Scheduling
public import TaskModel

/// The plans of launches, from a log: run times, CPU times, outcomes and submissions.
///
/// The n-th launched request of an identifier gets the plan of the n-th one in the log that ended by itself.
/// For later requests, the plan with the median run time counts. If the log has no such request of an
/// identifier, ``TypicalLaunches`` decides.
public struct RecordedLaunches: LaunchModel {
    private var plans: [TaskIdentifier: [LaunchPlan]] = [:]
    private let other: TypicalLaunches

    /// All launches of one request.
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

    /// Reads the launches in a log.
    ///
    /// - Parameters:
    ///   - segments: The segments of the log, oldest first.
    ///   - seed: The seed for the plans of identifiers that the log does not contain.
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
            case .progressed(let id, _, _):
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

    /// Assigns a submission of a handler to the running launch that probably made it.
    ///
    /// It is a launch of the same bundle, preferably one of the submitted identifier.
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

    /// The plan of a request that ended by itself; `nil` if its last launch was stopped.
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

    /// The plan of the request with this ordinal in the log, or another plan if the log has no such request.
    public func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
        guard let known = plans[request.identifier], !known.isEmpty else {
            return other.plan(for: request, ordinal: ordinal)
        }
        if ordinal < known.count { return known[ordinal] }
        return known.sorted { $0.work < $1.work }[known.count / 2]
    }
}
