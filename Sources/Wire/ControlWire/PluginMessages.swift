public import TaskModel

/// The contents of the plugins directory and the manifests directory: the body of `GET /v1/plugins`.
public struct PluginListingMessage: Codable, Equatable, Sendable {
    /// The valid manifests, with their libraries.
    public var plugins: [PluginMessage]
    /// The errors in manifests and libraries.
    public var problems: [ProblemMessage]

    public init(_ listing: PluginListing) {
        plugins = listing.handlers.map { handler in
            PluginMessage(handler, advice: listing.advice[handler.manifest.bundle] ?? [])
        }
        problems = listing.problems.map(ProblemMessage.init)
    }
}

/// One manifest with its library.
public struct PluginMessage: Codable, Equatable, Sendable {
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// The path of the manifest.
    public var manifest: String
    /// The library's file name; `null` if the manifest names none.
    @Explicit public var library: String?
    /// The SHA-256 of the library and of the libraries beside it that it needs, in hexadecimal; `null` if
    /// there is no library.
    @Explicit public var libraryHash: String?
    /// The identifier of the bundle's app launches; `null` if its library is not an app.
    @Explicit public var appLaunch: TaskIdentifier?
    /// The tasks that the manifest permits.
    public var tasks: [PluginTaskMessage]
    /// Advice for the author about the installed version of the library; `nil` from an older host, which does
    /// not send it.
    @Explicit public var advice: [PluginAdviceMessage]?

    public init(_ handler: PermittedHandler, advice: [PluginAdvice]) {
        bundle = handler.manifest.bundle
        manifest = handler.manifestPath
        tasks = handler.manifest.tasks.map { task in
            var message = PluginTaskMessage(task)
            if !task.hasOwnProgram, handler.manifest.library == nil { message.runs = "client" }
            return message
        }
        library = handler.manifest.library
        libraryHash = handler.libraryHash
        appLaunch = handler.manifest.appLaunch
        self.advice = advice.map(PluginAdviceMessage.init)
    }
}

/// Advice for the author of a plugin.
public struct PluginAdviceMessage: Codable, Equatable, Sendable {
    /// A word that identifies the advice.
    public var code: String
    /// A sentence that says what was found and what to do.
    public var message: String
    /// The launch that gave rise to the advice.
    public var launch: LaunchID
    /// When the advice was given.
    public var at: Timestamp

    public init(_ advice: PluginAdvice) {
        code = advice.code
        message = advice.message
        launch = advice.launch
        at = Timestamp(advice.at)
    }
}

/// One task that a manifest permits.
public struct PluginTaskMessage: Codable, Equatable, Sendable {
    /// The identifier, or a prefix followed by `.*`.
    public var identifier: IdentifierPattern
    /// The task's kind.
    public var kind: TaskKind
    /// Whether every request requires external power.
    public var requiresExternalPower: Bool
    /// Whether every request requires a network connection.
    public var requiresNetworkConnectivity: Bool
    /// Which network every request requires at least, from the manifest or the kind; `null` if none.
    @Explicit public var network: NetworkRequirement?
    /// What runs the task: `library`, `call`, or `client` if only a client that registered for it can run it.
    public var runs: String
    /// The lease in seconds; `null` means that run time is not limited.
    @Explicit public var leaseSeconds: Double?
    /// The seconds from an expiration until the kill.
    public var graceSeconds: Double
    /// The CPU limit in percent of one core; `null` means that there is none.
    @Explicit public var cpuPercent: Int?
    /// The window of the CPU limit, in seconds; `null` if there is no limit.
    @Explicit public var cpuWindowSeconds: Double?
    /// The limit of resident memory, in bytes.
    public var memoryBytes: Int64
    /// The schedule in words, such as `every 15m, on power` or `Mon..Fri 02:00 Europe/Berlin`; `null` if
    /// there is none.
    @Explicit public var schedule: String?
    /// The period of the schedule, in seconds; `null` if it has none.
    @Explicit public var everySeconds: Double?
    /// The tolerance of the schedule, in seconds; `null` if there is no schedule.
    @Explicit public var toleranceSeconds: Double?
    /// The jitter of the schedule, in seconds; `null` if it has none.
    @Explicit public var jitterSeconds: Double?
    /// How much later this device begins because of the jitter, in seconds; `null` without a jitter.
    @Explicit public var jitterOffsetSeconds: Double?
    /// What else every launch needs, in words, such as `battery 40 %` or `when idle`; `nil` from an older
    /// host.
    public var needs: [String]?
    /// The largest number of attempts of one request, including the first one; `nil` if the manifest has no
    /// `retry`, and from an older host.
    public var retryAttempts: Int?

    public init(_ task: TaskDeclaration) {
        identifier = task.pattern
        kind = task.kind
        requiresExternalPower = task.requiresExternalPower
        requiresNetworkConnectivity = task.requiresNetworkConnectivity
        runs = task.command != nil ? "command" : task.call != nil ? "call" : "library"
        graceSeconds = task.limits.lease.gracePeriod.inSeconds
        memoryBytes = task.limits.memory.bytes
        leaseSeconds = task.limits.lease.duration?.inSeconds
        retryAttempts = task.retry?.attempts
        cpuPercent = task.limits.cpu?.percent
        cpuWindowSeconds = task.limits.cpu?.window.inSeconds
        schedule = task.schedule?.description
        everySeconds = task.schedule?.every?.inSeconds
        toleranceSeconds = task.schedule?.tolerance.inSeconds
        jitterSeconds = task.schedule?.jitter?.spread.inSeconds
        jitterOffsetSeconds = task.schedule?.jitter?.offset?.inSeconds
        network = task.requiredNetwork
        needs = Self.needs(of: task)
    }

    private static func needs(of task: TaskDeclaration) -> [String] {
        let constraints = task.constraints ?? TaskConstraints()
        var needs: [String] = task.requiredConditions.map { "condition \($0)" }
        if let storage = constraints.storage { needs.append("storage \(storage)") }
        if let battery = constraints.battery { needs.append("battery \(battery) %") }
        if let window = constraints.between { needs.append("between \(window.text)") }
        if let when = constraints.when { needs.append("when \(when.text)") }
        if !constraints.conflicts.isEmpty {
            needs.append("not beside " + constraints.conflicts.map(\.description).joined(separator: " "))
        }
        if task.isPrefetch { needs.append("prefetch") }
        return needs
    }
}

/// An error or a warning about a manifest or a library.
public struct ProblemMessage: Codable, Equatable, Sendable {
    /// How serious the problem is.
    public var severity: ManifestProblem.Severity
    /// The path of the file.
    public var file: String
    /// The line, counted from 1; `null` if the problem is about the whole file.
    @Explicit public var line: Int?
    /// The column, counted from 1; `null` if the problem is about the whole line.
    @Explicit public var column: Int?
    /// What is wrong, in words.
    public var finding: String
    /// What to do; `null` if the finding makes that clear.
    @Explicit public var remedy: String?

    public init(_ problem: ManifestProblem) {
        severity = problem.severity
        file = problem.file
        finding = problem.finding
        line = problem.line
        column = problem.column
        remedy = problem.remedy
    }

    /// The problem as a value of the model, which can describe it in one line.
    public var problem: ManifestProblem {
        ManifestProblem(
            severity: severity, file: file, line: line, column: column, finding: finding, remedy: remedy)
    }
}
