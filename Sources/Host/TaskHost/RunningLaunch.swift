import TaskModel

/// A launch that the host has recorded and not yet ended.
struct RunningLaunch: Sendable {
    /// As the store has it, with what is newer.
    var record: LaunchRecord
    /// The request it consumed.
    let request: TaskRequest
    /// Whether the manifest forbids a second attempt.
    let isAtMostOnce: Bool
    /// The task's process, once it is started.
    var processIdentifier: Int32?
    /// Whether its handler completed, by whatever outcome.
    var hasCompleted = false
}
