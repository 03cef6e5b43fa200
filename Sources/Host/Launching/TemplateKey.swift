import TaskModel

/// The properties that must be equal for two launches to use the same template.
struct TemplateKey: Hashable, Sendable {
    let bundle: BundleIdentifier
    let libraryPath: String?
    let libraryHash: String?
    let callLibraries: [String]
    let isCommand: Bool
    let directory: String
    let executable: String?
    let environment: [String]
    let sandbox: SandboxDeclaration
    let observation: CallObservation
    let grants: FileGrants
    let temporaryParent: String
    let user: UInt32?
    let niceness: Int
    let isBatch: Bool
    let ioClass: LaunchPriority.IOClass
    /// How much memory the template may use: the greatest limit of the bundle's tasks.
    let memory: ByteCount

    init(_ order: LaunchOrder) {
        bundle = order.record.bundle
        libraryPath = order.libraryPath
        libraryHash = order.handler.libraryHash
        callLibraries = order.callLibraries
        isCommand = order.isCommand
        directory = order.place.dataDirectory
        executable = order.place.executable
        environment = order.environment
        sandbox = order.handler.manifest.sandbox
        observation = order.observation
        grants = order.place.grants
        temporaryParent = order.place.temporaryParent ?? order.place.temporaryDirectory
        user = order.place.user
        niceness = order.priority.nice
        isBatch = order.priority.isBatch
        ioClass = order.priority.ioClass
        memory = order.handler.manifest.tasks.map(\.limits.memory)
            .reduce(order.declaration.limits.memory) { max($0, $1) }
    }
}

/// The list of templates and of the launches that wait for them; performs no I/O.
struct TemplateBook: Sendable {
    /// One template.
    struct Template: Sendable {
        let id: UInt64
        let key: TemplateKey
        /// Whether the template has loaded its library.
        var isReady = false
        /// Whether tasks can be cloned from the template; otherwise, each task gets a newly executed process.
        var isCloneable = true
        /// The launches that wait until the template has loaded, in order.
        var waiting: [LaunchID] = []
        /// The number of launches that used the template so far.
        var launches = 0
    }

    /// How many launches use a template before it is replaced, so that memory leaks stay small.
    static let maximumLaunches = 1000

    private(set) var templates: [UInt64: Template] = [:]
    private var current: [TemplateKey: UInt64] = [:]
    private var lastID: UInt64 = 0

    /// What a launch must do to get a template.
    enum Answer: Equatable, Sendable {
        /// Ask the launcher to start this new template, and wait for it.
        case start(UInt64)
        /// Wait for this template, which is loading.
        case wait(UInt64)
        /// Use this template, which is loaded.
        case ready(UInt64)
    }

    /// Finds the template for a launch, or adds a new one.
    mutating func request(_ key: TemplateKey, for launch: LaunchID) -> Answer {
        if let id = current[key], let template = templates[id] {
            if template.isReady { return .ready(id) }
            templates[id]?.waiting.append(launch)
            return .wait(id)
        }
        lastID += 1
        templates[lastID] = Template(id: lastID, key: key, waiting: [launch])
        current[key] = lastID
        return .start(lastID)
    }

    /// Marks a template as loaded; returns the launches that waited for it.
    mutating func ready(_ id: UInt64, isCloneable: Bool) -> [LaunchID] {
        guard let template = templates[id] else { return [] }
        templates[id]?.isReady = true
        templates[id]?.isCloneable = isCloneable
        templates[id]?.waiting = []
        return template.waiting
    }

    /// Removes a template; returns the launches that waited for it.
    mutating func remove(_ id: UInt64) -> [LaunchID] {
        guard let template = templates.removeValue(forKey: id) else { return [] }
        if current[template.key] == id { current[template.key] = nil }
        return template.waiting
    }

    /// Counts a launch; returns whether the template has reached ``maximumLaunches`` and must be retired.
    mutating func countLaunch(of id: UInt64) -> Bool {
        guard let count = templates[id]?.launches else { return false }
        templates[id]?.launches = count + 1
        return count + 1 >= Self.maximumLaunches
    }

    /// Removes a launch from the lists of waiting launches.
    mutating func forget(_ launch: LaunchID) {
        for id in templates.keys { templates[id]?.waiting.removeAll { $0 == launch } }
    }

    /// The loaded templates of one bundle, or of all with `nil`.
    func ready(of bundle: BundleIdentifier?) -> [UInt64] {
        templates.values.filter { $0.isReady && (bundle == nil || $0.key.bundle == bundle) }.map(\.id)
            .sorted()
    }

    /// Forgets all templates, which were children of the launcher that has ended.
    mutating func removeAll() {
        templates.removeAll()
        current.removeAll()
    }
}
