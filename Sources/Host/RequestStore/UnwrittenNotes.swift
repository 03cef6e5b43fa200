import TaskModel

/// The notes about launches (when they were ready, and their progress) that are not in the database yet.
struct UnwrittenNotes {
    /// The notes of one launch.
    struct Notes: Equatable, Sendable {
        /// When the handler was called; only the first such note counts.
        var readyAt: WallTime?
        /// The newest progress.
        var progress: TaskProgress?

        /// Adds the notes to a record, unless the launch has ended.
        func apply(to launch: inout LaunchRecord) {
            guard launch.state != .ended else { return }
            if let readyAt, launch.readyAt == nil {
                launch.readyAt = readyAt
                if launch.state == .starting { launch.state = .running }
            }
            if let progress { launch.progress = progress }
        }

        /// Adds the notes to a summary, unless the launch has ended.
        func apply(to launch: inout LaunchSummary) {
            guard launch.state != .ended else { return }
            if readyAt != nil, launch.state == .starting { launch.state = .running }
            if let progress { launch.progress = progress }
        }
    }

    /// The notes that are not in the database yet, by launch.
    private(set) var newest: [LaunchID: Notes] = [:]
    /// Before this time on CLOCK_MONOTONIC, notes alone do not cause a commit.
    private var nextDue: Duration?
    private var isDue = false

    /// The shortest time between two commits that contain only notes.
    static let interval = Duration.seconds(1)

    /// Stores a note; returns whether a commit should start.
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

    /// The notes that the next commit should write.
    ///
    /// - Parameter ridingAlong: Whether the commit also contains other writes; then it takes all notes.
    /// - Returns: The notes; empty if a commit of notes alone is not due.
    mutating func take(ridingAlong: Bool) -> [LaunchID: Notes] {
        guard ridingAlong || isDue else { return [:] }
        isDue = false
        return newest
    }

    /// Removes the notes that were written, unless newer ones have arrived.
    mutating func didWrite(_ written: [LaunchID: Notes]) {
        for (launch, written) in written {
            if newest[launch]?.progress == written.progress { newest[launch]?.progress = nil }
            if newest[launch]?.readyAt == written.readyAt { newest[launch]?.readyAt = nil }
            if newest[launch] == Notes() { newest[launch] = nil }
        }
    }
}
