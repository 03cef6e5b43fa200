import BackgroundTasks

// Protocols like those with which public code wraps the scheduler: the launch handler is `@Sendable` in one
// of them, and not in the other.
protocol TaskScheduling {
    @discardableResult
    func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool
    func submit(_ taskRequest: BGTaskRequest) throws
    func cancel(taskRequestWithIdentifier identifier: String)
    func cancelAllTaskRequests()
}

protocol SendableTaskScheduling {
    func register(
        forTaskWithIdentifier identifier: String, using queue: dispatch_queue_t?,
        launchHandler: @escaping @Sendable (BGTask) -> Void
    ) -> Bool
    func pendingTaskRequests() async -> [BGTaskRequest]
}

extension BGTaskScheduler: TaskScheduling, SendableTaskScheduling {}

extension BGTaskScheduler.Error.Code: @retroactive CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable: return "unavailable"
        case .tooManyPendingTaskRequests: return "too many"
        case .notPermitted: return "not permitted"
        case .immediateRunIneligible: return "not now"
        @unknown default: return "unknown"
        }
    }
}

extension BGTaskScheduler {
    func register(forTaskWithIdentifier identifier: String, launchHandler: @escaping (BGTask) -> Void) -> Bool
    {
        register(forTaskWithIdentifier: identifier, using: nil, launchHandler: launchHandler)
    }
}
