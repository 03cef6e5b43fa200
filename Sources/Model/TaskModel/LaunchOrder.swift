/// Everything that starting one launch takes: the values that led to it, and what only its start decides.
public struct LaunchOrder: Sendable {
    /// The launch, recorded in the store already, and what earlier attempts left for it.
    public var begun: BegunLaunch
    /// The request that it runs: its payload, its title.
    public var request: TaskRequest
    /// The manifest that permits it, and the host-owned copy of the library.
    public var handler: PermittedHandler
    /// What the manifest declares for the launch's identifier: lease, CPU, memory.
    public var declaration: TaskDeclaration
    /// Its directories, and its `call:` with the payload filled in.
    public var place: LaunchPlace
    /// `NAME=value`, the whole environment.
    public var environment: [String]
    /// Its share of the machine: the process starts with the nice value, and gets the rest when it runs.
    public var priority: LaunchPriority
    /// What the machine is like at the start; `nil` where no handler asks.
    public var conditions: HandlerConditions?
    /// Whether the task stops itself before its handler, for a debugger.
    public var isDebugged = false
    /// Whether it gets a process of its own instead of a clone of a template.
    public var isFresh = false

    /// Makes an order for a launch that is not debugged and does not learn the conditions.
    public init(
        begun: BegunLaunch, request: TaskRequest, handler: PermittedHandler, declaration: TaskDeclaration,
        place: LaunchPlace, environment: [String], priority: LaunchPriority
    ) {
        self.begun = begun
        self.request = request
        self.handler = handler
        self.declaration = declaration
        self.place = place
        self.environment = environment
        self.priority = priority
    }

    /// The launch's number.
    public var id: LaunchID { begun.record.id }

    /// The launch, as it was recorded.
    public var record: LaunchRecord { begun.record }

    /// The library whose handler runs; `nil` for a `call:`, which loads its own.
    public var libraryPath: String? { place.program == nil ? handler.libraryPath : nil }
}
