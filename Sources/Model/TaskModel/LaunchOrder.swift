/// Everything that starting one launch takes.
public struct LaunchOrder: Sendable {
    /// The launch, recorded in the store already.
    public var id: LaunchID
    /// The request that it runs.
    public var request: RequestID
    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The kind.
    public var kind: TaskKind
    /// From 1.
    public var attempt: Int
    /// The fencing token.
    public var token: Int64
    /// The host-owned copy of the library; `nil` for a `call:` that loads its own.
    public var libraryPath: String?
    /// The copy's hash; `nil` where there is no library.
    public var libraryHash: String?
    /// An encoded `call:` program; `nil` for the library's own handler.
    public var program: [UInt8]?
    /// JSON text; `nil` means none.
    public var payload: String?
    /// What the attempt before saved; `nil` is nothing.
    public var checkpoint: [UInt8]?
    /// When this identifier last succeeded; `nil` is never.
    public var lastSuccess: WallTime?
    /// Lease, CPU and memory.
    public var limits: LaunchLimits
    /// What the user sees of a continued task.
    public var title = ""
    /// Its second line.
    public var subtitle = ""
    /// The bundle's own directory, which exists; the task's working directory.
    public var dataDirectory: String
    /// The runner's link or copy that its process is executed from; `nil` is the runner itself.
    public var executable: String?
    /// Emptied after the launch; exists.
    public var temporaryDirectory: String
    /// Whether it may start processes.
    public var subprocesses = false
    /// Whether it may open sockets.
    public var network = false
    /// What the bundle's manifest permits, as written there; the task gets it.
    public var permittedIdentifiers: [String] = []
    /// Their kinds, in their order.
    public var permittedKinds: [TaskKind] = []
    /// The manifest's modes; the task gets them.
    public var modes: [BackgroundMode] = []
    /// What the machine is like at the start; `nil` where no handler asks.
    public var conditions: HandlerConditions?
    /// `NAME=value`, the whole environment.
    public var environment: [String] = []
    /// Whether the task stops itself before its handler, for a debugger.
    public var debug = false
    /// Scheduling niceness, 0 through 19.
    public var niceness = 0
    /// Whether it gets a process of its own instead of a clone of a template.
    public var fresh = false

    /// Makes an order with what every launch has.
    public init(
        id: LaunchID, request: RequestID, identifier: TaskIdentifier, bundle: BundleIdentifier,
        kind: TaskKind,
        attempt: Int, token: Int64, libraryPath: String?, libraryHash: String?, program: [UInt8]?,
        limits: LaunchLimits, dataDirectory: String, temporaryDirectory: String
    ) {
        self.id = id
        self.request = request
        self.identifier = identifier
        self.bundle = bundle
        self.kind = kind
        self.attempt = attempt
        self.token = token
        self.libraryPath = libraryPath
        self.libraryHash = libraryHash
        self.program = program
        self.limits = limits
        self.dataDirectory = dataDirectory
        self.temporaryDirectory = temporaryDirectory
    }
}
