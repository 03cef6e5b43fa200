import TaskModel

/// Progress that waits for a commit to ride along with: the newest of each launch.
struct UnwrittenProgress {
    /// The newest of each launch that is not in the database.
    private(set) var newest: [LaunchID: TaskProgress] = [:]
    /// On the monotonic clock: before this, progress alone makes no commit.
    private var nextDue: Duration?
    private var isDue = false

    /// How often progress alone may make a commit: a crash loses at most so much of a progress bar.
    static let interval = Duration.seconds(1)

    /// Keeps it; true if the writer should be woken for it.
    mutating func record(_ progress: TaskProgress, of launch: LaunchID, at moment: Moment) -> Bool {
        newest[launch] = progress
        if let nextDue, moment.monotonic < nextDue { return false }
        nextDue = moment.monotonic + Self.interval
        isDue = true
        return true
    }

    /// What the next commit should carry.
    mutating func take(ridingAlong: Bool) -> [LaunchID: TaskProgress] {
        guard ridingAlong || isDue else { return [:] }
        isDue = false
        return newest
    }

    /// Forgets what is in the database now, unless something newer has come.
    mutating func didWrite(_ written: [LaunchID: TaskProgress]) {
        for (launch, progress) in written where newest[launch] == progress { newest[launch] = nil }
    }
}
