public import TaskModel

/// What one launch will do: the part of the world that no scheduler decides.
public struct LaunchPlan: Equatable, Sendable {
    /// A request that a handler makes.
    public struct Submission: Equatable, Sendable {
        /// After its handler was called.
        public var after: Duration
        /// What it submits; a begin date counts from then.
        public var submission: TaskSubmission
        /// Its begin date, from the submission on; `nil` means none.
        public var delay: Duration?
    }

    /// From the launch to the call of its handler.
    public var startUp = Duration.milliseconds(2)
    /// From there to the end of its work.
    public var work: Duration
    /// CPU-seconds per second of its run.
    public var cpuShare: Double
    /// How its work ends.
    public var outcome = Outcome.succeeded
    /// How long it takes to stop when asked; longer than its grace means killed.
    public var answer = Duration.milliseconds(50)
    /// Whether what an expired launch did counts for the next attempt: it saves checkpoints.
    public var resumes: Bool
    /// How often it reports progress; `nil` never.
    public var progressPeriod: Duration?
    /// What it submits.
    public var submissions: [Submission] = []

    /// Makes a plan.
    public init(work: Duration, cpuShare: Double, resumes: Bool, progressPeriod: Duration? = nil) {
        self.work = work
        self.cpuShare = cpuShare
        self.resumes = resumes
        self.progressPeriod = progressPeriod
    }
}

/// Says what launches do.
public protocol LaunchModel: Sendable {
    /// The plan for one request, made at its first attempt; later attempts go on with it.
    ///
    /// - Parameters:
    ///   - request: What is launched.
    ///   - ordinal: How many requests of the identifier were launched before, from 0.
    /// - Returns: The plan.
    func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan
}

/// What kinds of tasks do where no recording says: run times drawn from a seed.
///
/// Ours, and no more than a guess: refreshes and pushes run 1 to 8 s, processing 1 to 20 min at a third of a
/// core, saving checkpoints; continued tasks 1 to 10 min at two thirds, reporting progress; one in fifty
/// fails.
public struct TypicalLaunches: LaunchModel {
    private let seed: UInt64

    /// Makes a model.
    public init(seed: UInt64) { self.seed = seed }

    /// The same request of the same seed gets the same plan.
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
