public import TaskModel

/// What the handler of one launch will do, which the scheduler can't influence.
public struct LaunchPlan: Equatable, Sendable {
    /// A request that the handler submits.
    public struct Submission: Equatable, Sendable {
        /// The time between the call of the handler and the submission.
        public var after: Duration
        /// The submitted request, without its earliest begin date; see ``delay``.
        public var submission: TaskSubmission
        /// The time between the submission and the earliest begin date; `nil` means no such date.
        public var delay: Duration?
    }

    /// The time between the start of the launch and the call of the handler.
    public var startUp = Duration.milliseconds(2)
    /// The run time that the handler needs to complete.
    public var work: Duration
    /// The CPU seconds that the launch uses per second of its run time.
    public var cpuShare: Double
    /// The outcome if the launch is not stopped.
    public var outcome = Outcome.succeeded
    /// The time to stop after an expiration; if it is longer than the grace period, the launch is killed.
    public var answer = Duration.milliseconds(50)
    /// Whether the work of an expired launch counts for the next attempt, because it saves checkpoints.
    public var resumes: Bool
    /// The time between two reports of progress; `nil` means no reports.
    public var progressPeriod: Duration?
    /// The requests that the handler submits.
    public var submissions: [Submission] = []

    /// Creates a plan.
    public init(work: Duration, cpuShare: Double, resumes: Bool, progressPeriod: Duration? = nil) {
        self.work = work
        self.cpuShare = cpuShare
        self.resumes = resumes
        self.progressPeriod = progressPeriod
    }
}

/// Decides what simulated launches do.
public protocol LaunchModel: Sendable {
    /// The plan for a request, which is made at the first attempt and also used for later attempts.
    ///
    /// - Parameters:
    ///   - request: The request that is launched.
    ///   - ordinal: How many requests of the same identifier were launched before.
    /// - Returns: The plan.
    func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan
}

/// The plans of launches without a recording: run times are drawn from a seed.
///
/// The numbers are our estimates. Refreshes and pushes run for 1 to 8 s. Processing tasks run for 1 to 20
/// min, use a third of a core and save checkpoints. Continued tasks run for 1 to 10 min, use two thirds of a
/// core and report progress. One request in fifty fails.
public struct TypicalLaunches: LaunchModel {
    private let seed: UInt64

    /// Creates a model.
    public init(seed: UInt64) { self.seed = seed }

    /// The plan for a request; it depends only on the seed, the identifier, the kind and the ordinal.
    public func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
        let name = request.identifier.rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        var numbers = SeededNumbers(seed: seed ^ name, part: UInt64(ordinal))
        var plan =
            switch request.kind {
            case .appRefresh, .push, .transferEvents, .appLaunch:
                LaunchPlan(
                    work: numbers.duration(.seconds(1)...(.seconds(8))), cpuShare: 0.2, resumes: false)
            case .processing, .activity:
                LaunchPlan(
                    work: numbers.duration(.seconds(60)...(.seconds(1200))), cpuShare: 0.33, resumes: true,
                    progressPeriod: .seconds(60))
            case .continuedProcessing:
                LaunchPlan(
                    work: numbers.duration(.seconds(60)...(.seconds(600))), cpuShare: 0.66, resumes: false,
                    progressPeriod: .seconds(10))
            }
        if numbers.chance(0.02) { plan.outcome = .failed }
        return plan
    }
}
