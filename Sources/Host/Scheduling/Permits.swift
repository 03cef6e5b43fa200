public import TaskModel

/// Which manifest permits what, arranged for a look-up per decision, however many manifests there are.
public struct Permits: Equatable, Sendable {
    /// One manifest, in one piece that is not copied with every look-up.
    private final class Bundle: Equatable, Sendable {
        let manifest: Manifest
        let exact: [TaskIdentifier: TaskDeclaration]
        /// By the prefix before `.*`.
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
    /// The bundle that names each identifier, and the one that has each wildcard, by its prefix.
    ///
    /// The registry refuses two that claim the same; if they were taken, the first by name counts in every
    /// process.
    private var owners: [TaskIdentifier: BundleIdentifier] = [:]
    private var wildcardOwners: [String: BundleIdentifier] = [:]

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
    }

    /// What the wildcards that match an identifier have before their `.*`, the longest first: one for each
    /// label of the identifier but the last.
    static func wildcards(over identifier: TaskIdentifier) -> [String] {
        let text = identifier.rawValue
        return text.utf8.indices.reversed().compactMap { index in
            // A wildcard stands for at least one byte after the point.
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

    /// The bundles whose manifests are not the same here and there.
    func bundlesThatDiffer(from other: Permits) -> Set<BundleIdentifier> {
        Set(bundles.keys).union(other.bundles.keys).filter { bundles[$0] != other.bundles[$0] }
    }

    /// What this bundle's manifest says of the identifier; an exact declaration wins over a wildcard, a
    /// longer wildcard over a shorter.
    public func declaration(
        for identifier: TaskIdentifier, of bundle: BundleIdentifier
    ) -> TaskDeclaration? {
        bundles[bundle]?.declaration(for: identifier)
    }

    /// The bundle that permits an identifier: one that names it wins over one with a wildcard, a longer
    /// wildcard over a shorter.
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

    /// Whether a manifest permits everything that a pattern matches.
    public func permits(_ pattern: IdentifierPattern) -> Bool {
        guard pattern.isWildcard else { return owner(of: pattern.base) != nil }
        return wildcardOwners[pattern.base.rawValue] != nil
            || Self.wildcards(over: pattern.base).contains { wildcardOwners[$0] != nil }
    }

    /// Why a request of this kind may not run, if it may not.
    func refusal(of identifier: TaskIdentifier, kind: TaskKind, bundle: BundleIdentifier) -> Refusal? {
        guard let entry = bundles[bundle], let declaration = entry.declaration(for: identifier) else {
            return Refusal(
                required: "a manifest of \(bundle) that permits \(identifier)",
                observed: "no manifest permits it",
                remedy: "Install a manifest that permits it, or cancel it: bgtask cancel \(identifier)")
        }
        if declaration.kind != kind {
            return Refusal(
                required: "a manifest that permits \(identifier) as \(kind.rawValue)",
                observed: "the manifest of \(bundle) permits it as \(declaration.kind.rawValue)",
                remedy: "Submit it again, or correct the manifest")
        }
        if let mode = kind.requiredMode, !entry.manifest.modes.contains(mode) {
            return Refusal(
                required: "the mode \(mode.rawValue) in the manifest of \(bundle)",
                observed: "the mode is missing",
                remedy: "Add \(mode.rawValue) to its modes")
        }
        return nil
    }

    struct Refusal: Equatable {
        var required: String
        var observed: String
        var remedy: String
    }

    /// Every schedule.
    ///
    /// A wildcard names no task that could be scheduled, and continued tasks are a user's act.
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
