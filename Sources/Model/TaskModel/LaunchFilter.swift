/// Which launches a listing contains; a property that is `nil` selects all.
public struct LaunchFilter: Equatable, Sendable {
    /// Only launches of this task.
    public var identifier: TaskIdentifier?
    /// Only launches of the tasks of this bundle.
    public var bundle: BundleIdentifier?
    /// Only launches of requests with this tag.
    public var tag: Tag?
    /// Only launches that ended with this outcome; none that is still running.
    public var outcome: Outcome?
    /// Only launches that started at this time or later.
    public var since: WallTime?

    /// All launches.
    public static let all = LaunchFilter()

    public init(
        identifier: TaskIdentifier? = nil, bundle: BundleIdentifier? = nil, tag: Tag? = nil,
        outcome: Outcome? = nil, since: WallTime? = nil
    ) {
        self.identifier = identifier
        self.bundle = bundle
        self.tag = tag
        self.outcome = outcome
        self.since = since
    }

    /// Whether the filter selects a launch.
    public func selects(_ launch: LaunchRecord) -> Bool {
        if let identifier, launch.identifier != identifier { return false }
        if let bundle, launch.bundle != bundle { return false }
        if let tag, !launch.tags.contains(tag) { return false }
        if let outcome, launch.end?.outcome != outcome { return false }
        if let since, launch.startedAt < since { return false }
        return true
    }
}
