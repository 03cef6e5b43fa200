/// Everything that is necessary to start one launch.
public struct LaunchOrder: Sendable {
    /// The launch, which the store already contains.
    public var id: LaunchID
    /// The request that the launch runs.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's bundle.
    public var bundle: BundleIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the attempt, from 1.
    public var attempt: Int
    /// The fencing token, which grows with every launch on this host.
    public var token: Int64
    /// The path of the host's own copy of the library; `nil` for a `call:`, which loads libraries itself.
    public var libraryPath: String?
    /// The SHA-256 hash of the copy; `nil` if there is no library.
    public var libraryHash: String?
    /// An encoded `call:` program; `nil` if the library's handler runs.
    public var program: [UInt8]?
    /// The payload as JSON text; `nil` if there is none.
    public var payload: String?
    /// The bytes that an earlier attempt saved; `nil` if there are none.
    public var checkpoint: [UInt8]?
    /// When a launch of this identifier last succeeded; `nil` if none has.
    public var lastSuccess: WallTime?
    /// The lease, the CPU limit and the memory limit.
    public var limits: LaunchLimits
    /// The title that the user sees of a continued task.
    public var title = ""
    /// The second line, below the title.
    public var subtitle = ""
    /// The bundle's own directory, which already exists; it becomes the task's working directory.
    public var dataDirectory: String
    /// The link to the runner, or copy of it, that the process executes; `nil` selects the runner itself.
    public var executable: String?
    /// The launch's own directory for temporary files, which already exists; the host removes it
    /// afterwards.
    public var temporaryDirectory: String
    /// Whether the task may start processes.
    public var subprocesses = false
    /// Whether the task may open sockets.
    public var network = false
    /// The patterns of identifiers that the bundle's manifest permits, as they are written there.
    public var permittedIdentifiers: [String] = []
    /// The kind of each pattern in ``permittedIdentifiers``, in the same order.
    public var permittedKinds: [TaskKind] = []
    /// The background modes that the manifest declares.
    public var modes: [BackgroundMode] = []
    /// The conditions of the machine at the start; `nil` for a `call:`, which cannot read them.
    public var conditions: HandlerConditions?
    /// The complete environment, as `NAME=value`.
    public var environment: [String] = []
    /// Whether the task stops before it calls its handler, so that a debugger can attach.
    public var debug = false
    /// The nice value of the task, 0 through 19.
    public var niceness = 0
    /// Whether the task gets a new process instead of a clone of a template.
    public var fresh = false

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
