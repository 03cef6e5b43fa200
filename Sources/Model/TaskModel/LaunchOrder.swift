/// The order to start one launch: everything that the launcher needs to know about it.
public struct LaunchOrder: Sendable {
    /// The record of the launch, which the store already contains, with the data of earlier attempts.
    public var begun: BegunLaunch
    /// The request that the launch runs.
    public var request: TaskRequest
    /// The manifest that permits the launch, and the host's copy of the library.
    public var handler: PermittedHandler
    /// The declaration in the manifest that applies to the launch's identifier.
    public var declaration: TaskDeclaration
    /// The directories of the launch and, for a `call:` or a `command:`, the program with the values of the
    /// payload.
    public var place: LaunchPlace
    /// The complete environment, as `NAME=value`.
    public var environment: [String]
    /// The priority of the launch.
    ///
    /// The process starts with the nice value; only `TaskLauncher.setPriority` sets the other parts.
    public var priority: LaunchPriority
    /// The conditions that the handler can read; `nil` for a `call:` or a `command:`, which never read
    /// them.
    public var conditions: HandlerConditions?
    /// Whether the task stops before its handler and waits for a debugger.
    public var isDebugged = false
    /// Whether the launch gets a newly executed process instead of a clone of a template.
    public var isFresh = false
    /// Which calls of the launch are recorded.
    public var observation = CallObservation.refused

    /// Makes an order for a launch without a debugger and without conditions.
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

    /// The id of the launch.
    public var id: LaunchID { begun.record.id }

    /// The record of the launch.
    public var record: LaunchRecord { begun.record }

    /// The path of the library whose handler runs; `nil` for a `call:`, which loads its libraries itself,
    /// and for a `command:`, which needs none.
    public var libraryPath: String? { place.program == nil ? handler.libraryPath : nil }

    /// Whether the launch runs a `command:`.
    public var isCommand: Bool {
        if case .command = place.program { true } else { false }
    }
}
