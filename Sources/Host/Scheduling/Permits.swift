public import TaskModel

/// The identifiers that manifests permit, arranged for fast lookup among many manifests.
public struct Permits: Equatable, Sendable {
    /// The tasks of one manifest, as an object, so that a lookup does not copy them.
    private final class Bundle: Equatable, Sendable {
        let manifest: Manifest
        let exact: [TaskIdentifier: TaskDeclaration]
        /// The tasks with a wildcard, by the text before `.*`.
        let wildcards: [String: TaskDeclaration]

        init(_ manifest: Manifest) {
            self.manifest = manifest
            var exact: [TaskIdentifier: TaskDeclaration] = [:]
            var wildcards: [String: TaskDeclaration] = [:]
            for task in manifest.tasks {
                if task.pattern.isWildcard {
                    wildcards[task.pattern.base.rawValue] = task
                } else {
                    exact[task.pattern.base] = task
                }
            }
            if let app = manifest.appLaunch { exact[app] = TaskDeclaration(appLaunch: app) }
            self.exact = exact
            self.wildcards = wildcards
        }

        static func == (left: Bundle, right: Bundle) -> Bool {
            left === right || left.manifest == right.manifest
        }

        func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
            if let task = exact[identifier] { return task }
            if wildcards.isEmpty { return nil }
            return Permits.wildcards(over: identifier).lazy.compactMap { self.wildcards[$0] }.first
        }
    }

    private var bundles: [BundleIdentifier: Bundle] = [:]
    /// The bundle that declares each identifier; ``wildcardOwners`` has that of each wildcard, by its prefix.
    ///
    /// The registry refuses manifests that declare the same identifier. If there are such manifests anyway,
    /// the bundle that is first by name counts, so that all processes agree.
    private var owners: [TaskIdentifier: BundleIdentifier] = [:]
    private var wildcardOwners: [String: BundleIdentifier] = [:]
    /// The patterns that conflict with each pattern: those that it names, and those that name it.
    private var conflicts: [IdentifierPattern: Set<IdentifierPattern>] = [:]

    init(_ manifests: [Manifest]) {
        for manifest in manifests { bundles[manifest.bundle] = Bundle(manifest) }
        for (name, bundle) in bundles {
            for identifier in bundle.exact.keys where owners[identifier].map({ name < $0 }) ?? true {
                owners[identifier] = name
            }
            for prefix in bundle.wildcards.keys where wildcardOwners[prefix].map({ name < $0 }) ?? true {
                wildcardOwners[prefix] = name
            }
        }
        for manifest in manifests {
            for task in manifest.tasks {
                for other in task.constraints?.conflicts ?? [] {
                    conflicts[task.pattern, default: Set()].insert(other)
                    conflicts[other, default: Set()].insert(task.pattern)
                }
            }
        }
    }

    /// The prefixes of all wildcards that could match an identifier, longest first.
    ///
    /// A prefix is the text before a dot of the identifier.
    static func wildcards(over identifier: TaskIdentifier) -> [String] {
        let text = identifier.rawValue
        return text.utf8.indices.reversed().compactMap { index in
            // A wildcard needs at least one byte after the dot.
            guard text.utf8[index] == UInt8(ascii: "."), index > text.startIndex,
                text.utf8.index(after: index) < text.endIndex
            else { return nil }
            return String(text[..<index])
        }
    }

    /// Every bundle that has a manifest.
    var bundleIdentifiers: Set<BundleIdentifier> { Set(bundles.keys) }

    /// Whether the bundle has a manifest.
    func has(_ bundle: BundleIdentifier) -> Bool { bundles[bundle] != nil }

    /// A bundle's manifest.
    func manifest(of bundle: BundleIdentifier) -> Manifest? { bundles[bundle]?.manifest }

    /// The bundles whose manifests differ between the two values.
    func bundlesThatDiffer(from other: Permits) -> Set<BundleIdentifier> {
        Set(bundles.keys).union(other.bundles.keys).filter { bundles[$0] != other.bundles[$0] }
    }

    /// The task in a bundle's manifest that permits an identifier; `nil` if there is none.
    ///
    /// An exact identifier takes precedence over a wildcard, and a longer wildcard over a shorter one.
    public func declaration(
        for identifier: TaskIdentifier, of bundle: BundleIdentifier
    ) -> TaskDeclaration? {
        bundles[bundle]?.declaration(for: identifier)
    }

    /// The bundle and the task that permit an identifier; `nil` if there are none.
    ///
    /// An exact identifier takes precedence over a wildcard, and a longer wildcard over a shorter one.
    public func owner(
        of identifier: TaskIdentifier
    ) -> (manifest: Manifest, declaration: TaskDeclaration)? {
        var name = owners[identifier]
        if name == nil, !wildcardOwners.isEmpty {
            name = Self.wildcards(over: identifier).lazy.compactMap { wildcardOwners[$0] }.first
        }
        guard let name, let bundle = bundles[name], let task = bundle.declaration(for: identifier) else {
            return nil
        }
        return (bundle.manifest, task)
    }

    /// The patterns that conflict with an identifier, in order; empty for most.
    func conflicts(with identifier: TaskIdentifier) -> [IdentifierPattern] {
        if conflicts.isEmpty { return [] }
        var found = conflicts[IdentifierPattern(exactly: identifier)] ?? []
        for (pattern, others) in conflicts where pattern.isWildcard && pattern.matches(identifier) {
            found.formUnion(others)
        }
        return found.sorted { $0.description < $1.description }
    }

    /// Whether the manifest of a task states that it conflicts with another task.
    func states(
        conflictOf identifier: TaskIdentifier, of bundle: BundleIdentifier, with other: TaskIdentifier
    ) -> Bool {
        declaration(for: identifier, of: bundle)?.constraints?.conflicts.contains { $0.matches(other) }
            ?? false
    }

    /// Whether this value and another one state different conflicts.
    func conflictsDiffer(from other: Permits) -> Bool { conflicts != other.conflicts }

    /// Whether any task has a conflict.
    var hasConflicts: Bool { !conflicts.isEmpty }

    /// Whether a manifest permits every identifier that the pattern matches.
    public func permits(_ pattern: IdentifierPattern) -> Bool {
        guard pattern.isWildcard else { return owner(of: pattern.base) != nil }
        return wildcardOwners[pattern.base.rawValue] != nil
            || Self.wildcards(over: pattern.base).contains { wildcardOwners[$0] != nil }
    }

    /// The reason why a request of this kind may not run; `nil` if it may.
    func refusal(of identifier: TaskIdentifier, kind: TaskKind, bundle: BundleIdentifier) -> Refusal? {
        guard let entry = bundles[bundle], let declaration = entry.declaration(for: identifier) else {
            return Refusal(
                required: "a manifest of \(bundle) that permits \(identifier)",
                observed: "no manifest permits it",
                act: "Install a manifest that permits it, or cancel it",
                command: ["cancel", "\(identifier)"])
        }
        if declaration.kind != kind {
            return Refusal(
                required: "a manifest that permits \(identifier) as \(kind.rawValue)",
                observed: "the manifest of \(bundle) permits it as \(declaration.kind.rawValue)",
                act:
                    "Submit a request of the kind \(declaration.kind.rawValue), or correct the kind in the manifest"
            )
        }
        if let mode = kind.requiredMode, !entry.manifest.modes.contains(mode) {
            return Refusal(
                required: "the mode \(mode.rawValue) in the manifest of \(bundle)",
                observed: "the mode is missing",
                act: "Add \(mode.rawValue) to 'modes' in the manifest")
        }
        return nil
    }

    struct Refusal: Equatable {
        var required: String
        var observed: String
        /// What to do, without a command.
        var act: String
        /// The arguments of the `bgtask` command that does it; `nil` if no command does.
        var command: [String]?

        /// What to do, with the command.
        var remedy: String { command.map { "\(act): bgtask \($0.joined(separator: " "))" } ?? act }
    }

    /// All schedules, by identifier.
    ///
    /// Tasks with a wildcard and continued tasks have no schedule.
    var schedules: [TaskIdentifier: (bundle: BundleIdentifier, schedule: Schedule)] {
        var all: [TaskIdentifier: (bundle: BundleIdentifier, schedule: Schedule)] = [:]
        for (bundle, entry) in bundles {
            for (identifier, task) in entry.exact where task.kind != .continuedProcessing {
                if let schedule = task.schedule { all[identifier] = (bundle, schedule) }
            }
        }
        return all
    }
}
