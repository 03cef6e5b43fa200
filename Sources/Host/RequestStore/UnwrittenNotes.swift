import TaskModel

/// Notes that wait for a commit to ride along with.
struct UnwrittenNotes {
    /// What is known of one launch and not in the database.
    struct Notes: Equatable, Sendable {
        /// When its handler was called; the first time stays.
        var readyAt: WallTime?
        /// Its newest progress.
        var progress: TaskProgress?

        /// Lays the notes over a record that was read; a launch that has ended takes none.
        func apply(to launch: inout LaunchRecord) {
            guard launch.state != .ended else { return }
            if let readyAt, launch.readyAt == nil {
                launch.readyAt = readyAt
                if launch.state == .starting { launch.state = .running }
            }
            if let progress { launch.progress = progress }
        }
    }

    /// The notes of each launch that are not in the database.
    private(set) var newest: [LaunchID: Notes] = [:]
    /// On the monotonic clock: before this, notes alone make no commit.
    private var nextDue: Duration?
    private var isDue = false

    /// The shortest time between two commits that carry nothing but notes.
    static let interval = Duration.seconds(1)

    /// Keeps a note; true if the writer should be woken for it.
    mutating func keep(_ note: StoreNote, of launch: LaunchID, at moment: Moment) -> Bool {
        var notes = newest[launch] ?? Notes()
        switch note {
        case .ready(let time): notes.readyAt = notes.readyAt ?? time.rounded
        case .progress(let progress): notes.progress = progress
        }
        newest[launch] = notes
        if let nextDue, moment.monotonic < nextDue { return false }
        nextDue = moment.monotonic + Self.interval
        isDue = true
        return true
    }

    /// What the next commit should carry.
    ///
    /// - Parameter ridingAlong: Whether there will be a commit anyway.
    /// - Returns: The notes; empty if they are not due.
    mutating func take(ridingAlong: Bool) -> [LaunchID: Notes] {
        guard ridingAlong || isDue else { return [:] }
        isDue = false
        return newest
    }

    /// Forgets what is in the database now, unless something newer has come.
    mutating func didWrite(_ written: [LaunchID: Notes]) {
        for (launch, written) in written {
            if newest[launch]?.progress == written.progress { newest[launch]?.progress = nil }
            if newest[launch]?.readyAt == written.readyAt { newest[launch]?.readyAt = nil }
            if newest[launch] == Notes() { newest[launch] = nil }
        }
    }
}
