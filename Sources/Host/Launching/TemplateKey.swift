import TaskModel

/// What two launches must share to be cloned from the same template.
struct TemplateKey: Hashable, Sendable {
    let bundle: BundleIdentifier
    let libraryPath: String?
    let libraryHash: String?
    let directory: String
    let executable: String?
    let environment: [String]
    let network: Bool
    let niceness: Int

    init(_ order: LaunchOrder) {
        bundle = order.bundle
        libraryPath = order.libraryPath
        libraryHash = order.libraryHash
        directory = order.dataDirectory
        executable = order.executable
        environment = order.environment
        network = order.network
        niceness = order.niceness
    }
}

/// The templates that there are, and the launches that wait for them; pure.
struct TemplateBook: Sendable {
    /// One template.
    struct Template: Sendable {
        let id: UInt64
        let key: TemplateKey
        /// Whether it has loaded its library.
        var isReady = false
        /// Whether tasks may be cloned from it; else each gets a process of its own.
        var isCloneable = true
        /// Launches that wait for it to load, in order.
        var waiting: [LaunchID] = []
        /// Launches that were spawned from it so far.
        var launches = 0
    }

    /// A template is replaced after a number of launches, so that its leaks stay bounded.
    static let maximumLaunches = 1000

    private(set) var templates: [UInt64: Template] = [:]
    private var current: [TemplateKey: UInt64] = [:]
    private var lastID: UInt64 = 0

    /// What a launch has to do for its template.
    enum Answer: Equatable, Sendable {
        /// Ask the launcher for this new one, and wait for it.
        case start(UInt64)
        /// It loads; wait for it.
        case wait(UInt64)
        /// It is there.
        case ready(UInt64)
    }

    /// Finds or makes the template of a launch.
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

    /// It has loaded; returns who waited.
    mutating func ready(_ id: UInt64, isCloneable: Bool) -> [LaunchID] {
        guard let template = templates[id] else { return [] }
        templates[id]?.isReady = true
        templates[id]?.isCloneable = isCloneable
        templates[id]?.waiting = []
        return template.waiting
    }

    /// It is gone or is to go; returns who waited.
    mutating func remove(_ id: UInt64) -> [LaunchID] {
        guard let template = templates.removeValue(forKey: id) else { return [] }
        if current[template.key] == id { current[template.key] = nil }
        return template.waiting
    }

    /// Counts a launch; returns whether the template has served its time and is to be retired.
    mutating func countLaunch(of id: UInt64) -> Bool {
        guard let count = templates[id]?.launches else { return false }
        templates[id]?.launches = count + 1
        return count + 1 >= Self.maximumLaunches
    }

    /// A launch no longer waits.
    mutating func forget(_ launch: LaunchID) {
        for id in templates.keys { templates[id]?.waiting.removeAll { $0 == launch } }
    }

    /// Those of a bundle, or all; only loaded ones can be retired.
    func ready(of bundle: BundleIdentifier?) -> [UInt64] {
        templates.values.filter { $0.isReady && (bundle == nil || $0.key.bundle == bundle) }.map(\.id)
            .sorted()
    }

    /// Forgets everything: the launcher is gone.
    mutating func removeAll() {
        templates.removeAll()
        current.removeAll()
    }
}
