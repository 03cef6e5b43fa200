public import TaskModel

/// What the plugins and manifests directories hold: the body of `GET /v1/plugins`.
public struct PluginListingMessage: Codable, Equatable, Sendable {
    /// What can be launched.
    public var plugins: [PluginMessage]
    /// What is wrong.
    public var problems: [ProblemMessage]

    /// Copies a listing.
    public init(_ listing: PluginListing) {
        plugins = listing.handlers.map { handler in
            PluginMessage(handler, advice: listing.advice[handler.manifest.bundle] ?? [])
        }
        problems = listing.problems.map(ProblemMessage.init)
    }
}

/// One manifest with its library.
public struct PluginMessage: Codable, Equatable, Sendable {
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The manifest's file.
    public var manifest: String
    /// The library's file name; `null` where every task has a `call:`.
    @Explicit public var library: String?
    /// SHA-256 of the library and its siblings.
    @Explicit public var libraryHash: String?
    /// The identifier of its app launches; `null` where its library is no app.
    @Explicit public var appLaunch: TaskIdentifier?
    /// What it permits.
    public var tasks: [PluginTaskMessage]
    /// What its author should know of this version; an older host does not send it.
    @Explicit public var advice: [PluginAdviceMessage]?

    /// Copies a handler.
    public init(_ handler: PermittedHandler, advice: [PluginAdvice]) {
        bundle = handler.manifest.bundle
        manifest = handler.manifestPath
        tasks = handler.manifest.tasks.map { task in
            var message = PluginTaskMessage(task)
            if task.call == nil, handler.manifest.library == nil { message.runs = "client" }
            return message
        }
        library = handler.manifest.library
        libraryHash = handler.libraryHash
        appLaunch = handler.manifest.appLaunch
        self.advice = advice.map(PluginAdviceMessage.init)
    }
}

/// What the author of a plugin should know of it.
public struct PluginAdviceMessage: Codable, Equatable, Sendable {
    /// One word for what was found.
    public var code: String
    /// What was found and what to do.
    public var message: String
    /// The launch that showed it.
    public var launch: LaunchID
    /// When.
    public var at: Timestamp

    /// Copies a piece of advice.
    public init(_ advice: PluginAdvice) {
        code = advice.code
        message = advice.message
        launch = advice.launch
        at = Timestamp(advice.at)
    }
}

/// One task that a manifest permits.
public struct PluginTaskMessage: Codable, Equatable, Sendable {
    /// The identifier, or a prefix and `.*`.
    public var identifier: IdentifierPattern
    /// The kind.
    public var kind: TaskKind
    /// A constraint of every request.
    public var requiresExternalPower: Bool
    /// A constraint of every request.
    public var requiresNetworkConnectivity: Bool
    /// What runs: `library`, `call`, or `client` where only a process that registers for it can.
    public var runs: String
    /// The lease; `null` has no end of its own.
    @Explicit public var leaseSeconds: Double?
    /// From expiration to the kill.
    public var graceSeconds: Double
    /// The CPU limit in percent of one core; `null` has none.
    @Explicit public var cpuPercent: Int?
    /// The CPU limit's window.
    @Explicit public var cpuWindowSeconds: Double?
    /// The memory limit.
    public var memoryBytes: Int64
    /// The schedule in words: `every 15m, on power`, `Mon..Fri 02:00 Europe/Berlin`; `null` has none.
    @Explicit public var schedule: String?
    /// The schedule's period; `null` has none.
    @Explicit public var everySeconds: Double?
    /// The schedule's tolerance.
    @Explicit public var toleranceSeconds: Double?

    /// Copies a declaration.
    public init(_ task: TaskDeclaration) {
        identifier = task.pattern
        kind = task.kind
        requiresExternalPower = task.requiresExternalPower
        requiresNetworkConnectivity = task.requiresNetworkConnectivity
        runs = task.call == nil ? "library" : "call"
        graceSeconds = task.limits.lease.gracePeriod.inSeconds
        memoryBytes = task.limits.memory.bytes
        leaseSeconds = task.limits.lease.duration?.inSeconds
        cpuPercent = task.limits.cpu?.percent
        cpuWindowSeconds = task.limits.cpu?.window.inSeconds
        schedule = task.schedule?.description
        everySeconds = task.schedule?.every?.inSeconds
        toleranceSeconds = task.schedule?.tolerance.inSeconds
    }
}

/// Something wrong with a manifest or a library.
public struct ProblemMessage: Codable, Equatable, Sendable {
    /// How bad it is.
    public var severity: ManifestProblem.Severity
    /// The file.
    public var file: String
    /// From 1.
    @Explicit public var line: Int?
    /// From 1.
    @Explicit public var column: Int?
    /// What was found.
    public var finding: String
    /// What to do.
    @Explicit public var remedy: String?

    /// Copies a problem.
    public init(_ problem: ManifestProblem) {
        severity = problem.severity
        file = problem.file
        finding = problem.finding
        line = problem.line
        column = problem.column
        remedy = problem.remedy
    }

    /// The value, for its one line of text.
    public var problem: ManifestProblem {
        ManifestProblem(
            severity: severity, file: file, line: line, column: column, finding: finding, remedy: remedy)
    }
}
