import TaskModel

/// A launch that the host has recorded and not yet ended.
struct RunningLaunch: Sendable {
    /// As the store has it, with what is newer.
    var record: LaunchRecord
    /// The request it consumed.
    let request: TaskRequest
    /// The copies of libraries that it loads or may load, which must stay until it ends.
    var libraryCopies: Set<String> = []
    /// Whether the manifest forbids a second attempt.
    let isAtMostOnce: Bool
    /// The task's process, once it is started.
    var processIdentifier: Int32?
    /// Its priority, for when it has a process.
    var priority: LaunchPriority
    /// What decided that it stops; `nil` until something did, or where somebody asked for it.
    var stopExplanation: Explanation?
    /// What it was told of the machine; `nil` for a `call:`, which asks for nothing.
    var conditions: HandlerConditions?
    /// The client that runs it; `nil` where it has a process of its own.
    var client: ClientID?
    /// What the client's process had used when it began.
    var cpuBefore = Duration.zero
    /// Whether it was said that it uses more than its limit.
    var hasToldCPU = false
    /// Whether it was asked to stop by itself; activities alone are.
    var shouldDefer = false
    /// Its assertions that have begun and not ended.
    var openAssertions: Set<UInt64> = []
}
