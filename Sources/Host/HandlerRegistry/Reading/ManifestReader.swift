import StrictFiles
import TaskModel

/// A manifest with the positions that messages of later checks need.
struct ReadManifest {
    var manifest: Manifest
    /// The position of the value of `bundle:`.
    var bundlePlace: Place?
    /// The position of the value of `library:`; `nil` if there is none.
    var libraryPlace: Place?
    /// The position of each task's identifier, in the order of the manifest's tasks.
    var taskPlaces: [Place]
    /// The positions of each task's `call:`; `nil` for a task without one.
    var callPlaces: [CallPlaces?]
    /// The positions of each task's `command:`; `nil` for a task without one.
    var commandPlaces: [CommandPlaces?] = []
    /// The positions of each task's required conditions.
    var conditionPlaces: [[Place]] = []
    /// The positions of each task's further constraints.
    var constraintPlaces: [ConstraintPlaces] = []
    /// The position of each task's `schedule:`; `nil` for a task without one.
    var schedulePlaces: [Place?] = []
}

/// Reads a manifest strictly: every unknown key is an error.
struct ManifestReader {
    private let problems: ProblemList

    private init(problems: ProblemList) {
        self.problems = problems
    }

    /// Reads the contents of a manifest.
    ///
    /// - Returns: The manifest, or `nil` if there are errors; and all problems, warnings included.
    static func read(_ bytes: [UInt8], file: String) -> (manifest: ReadManifest?, problems: [ManifestProblem])
    {
        let problems = ProblemList(file: file, kind: .manifest)
        guard let root = YAMLDocument.parse(bytes, problems: problems) else { return (nil, problems.sorted) }
        let manifest = Self(problems: problems).manifest(root)
        return (problems.hasErrors ? nil : manifest, problems.sorted)
    }

    private func manifest(_ root: YAMLNode) -> ReadManifest? {
        let keys = ["apiVersion", "bundle", "library", "client", "modes", "pending", "tasks", "sandbox"]
        guard let fields = Fields(root, "the manifest", keys: keys, problems) else { return nil }
        fields.checkVersion("the manifest", problems)
        let bundle = bundle(fields)
        let library = fields["library"].flatMap(libraryName)
        let modes = modes(fields)
        let nodes = fields.required("tasks", "the manifest", problems)?.items("tasks", problems) ?? []
        if nodes.isEmpty, let place = fields["tasks"]?.place {
            problems.error(place, "there are no tasks", "Add one, or remove the file")
        }
        let reader = TaskReader(
            bundle: bundle, modes: modes, hasLibrary: fields["library"] != nil,
            isClient: fields["client"]?.bool("client", problems) ?? false, problems: problems)
        let tasks = nodes.compactMap(reader.task)
        checkIdentifiers(tasks)
        FailureReader(tasks: tasks, problems: problems).check()
        var payloadKeys: [String: PayloadType] = [:]
        for task in tasks { payloadKeys.merge(task.declaration.payload) { left, _ in left } }
        let sandbox = SandboxReader(
            payload: payloadKeys, hasCommand: tasks.contains { $0.declaration.command != nil },
            problems: problems
        ).sandbox(fields["sandbox"])
        for task in tasks { checkNetwork(of: task, sandbox, fields["sandbox"]) }
        let pendingLimits = pendingLimits(fields["pending"])
        guard let bundle else { return nil }
        var manifest = Manifest(
            bundle: bundle, library: library, modes: modes ?? [], tasks: tasks.map(\.declaration),
            sandbox: sandbox)
        manifest.pendingLimits = pendingLimits
        return ReadManifest(
            manifest: manifest, bundlePlace: fields["bundle"]?.place, libraryPlace: fields["library"]?.place,
            taskPlaces: tasks.map(\.place),
            callPlaces: tasks.map(\.callPlaces), commandPlaces: tasks.map(\.commandPlaces),
            conditionPlaces: tasks.map(\.conditionPlaces),
            constraintPlaces: tasks.map(\.constraintPlaces), schedulePlaces: tasks.map(\.schedulePlace))
    }

    /// Warns of a task that waits for a network, which its sandbox does not let it use.
    ///
    /// A plugin can have the host transfer files without a network of its own, so only an explicit refusal
    /// counts for it.
    private func checkNetwork(of task: ReadTask, _ sandbox: SandboxDeclaration, _ node: YAMLNode?) {
        guard let place = task.networkPlace, sandbox.network == nil, task.declaration.kind != .transferEvents
        else { return }
        var isRefused = false
        if case .mapping(let entries)? = node?.value {
            isRefused = entries.contains { key, _ in
                if case .scalar("network", _) = key.value { true } else { false }
            }
        }
        guard isRefused || task.declaration.command != nil || task.declaration.call != nil else { return }
        problems.warning(
            place, "the task waits for a network, and its sandbox does not let it use one",
            "Write 'sandbox: {network: true}', or remove the requirement")
    }

    private func bundle(_ fields: Fields) -> BundleIdentifier? {
        guard let node = fields.required("bundle", "the manifest", problems),
            let text = node.text("bundle", problems)
        else { return nil }
        do {
            return try BundleIdentifier(text)
        } catch {
            problems.error(
                node.place, "bundle '\(text.shortened)': \(error.finding)", "Use A-Z a-z 0-9 . _ -")
            return nil
        }
    }

    private func libraryName(_ node: YAMLNode) -> String? {
        guard let name = node.text("library", problems) else { return nil }
        guard !name.contains("/"), name != ".", name != "..", !name.isEmpty else {
            problems.error(
                node.place, "library must be a file name, found a path: '\(name.shortened)'",
                "Give the name of a file in the plugins directory, without '/'")
            return nil
        }
        return name
    }

    /// The modes; `nil` if they are invalid, so that the error is not repeated for each task.
    private func modes(_ fields: Fields) -> Set<BackgroundMode>? {
        guard let node = fields["modes"] else { return [] }
        guard let items = node.items("modes", problems) else { return nil }
        let modes = items.map { $0.word("mode", as: BackgroundMode.self, problems) }
        return modes.contains(nil) ? nil : Set(modes.compactMap(\.self))
    }

    private func pendingLimits(_ node: YAMLNode?) -> PendingLimits {
        guard let node, let fields = Fields(node, "pending", keys: ["appRefresh", "processing"], problems)
        else { return PendingLimits() }
        return PendingLimits(
            appRefresh: fields["appRefresh"]?.integer("appRefresh", in: 1...1000, problems),
            processing: fields["processing"]?.integer("processing", in: 1...1000, problems))
    }

    private func checkIdentifiers(_ tasks: [ReadTask]) {
        var seen: [String: Place] = [:]
        var seenInLowercase: [String: String] = [:]
        for task in tasks {
            let text = task.declaration.pattern.description
            if let first = seen[text] {
                problems.error(
                    task.place, "the identifier '\(text)' appears twice, first on line \(first.line)",
                    "Keep one")
            } else if let twin = seenInLowercase[text.lowercased()] {
                problems.warning(
                    task.place, "'\(text)' and '\(twin)' differ only in case",
                    "Identifiers are case-sensitive. Rename one to avoid confusion")
            }
            seen[text] = seen[text] ?? task.place
            seenInLowercase[text.lowercased()] = text
        }
    }
}

extension FileKind {
    /// How messages refer to manifests.
    static let manifest = FileKind(
        plural: "Manifests", whenEmpty: "Begin it with 'apiVersion: bgtask/v1'",
        whenLarge: "Split it into several manifests")
}
