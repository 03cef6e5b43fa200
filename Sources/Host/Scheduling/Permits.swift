import TaskModel

/// Which manifest permits what, arranged for a look-up per decision.
struct Permits: Equatable, Sendable {
    /// One manifest, in one piece that is not copied with every look-up.
    private final class Bundle: Equatable, Sendable {
        let manifest: Manifest
        let exact: [TaskIdentifier: TaskDeclaration]
        /// The narrowest first.
        let wildcards: [TaskDeclaration]

        init(_ manifest: Manifest) {
            self.manifest = manifest
            var exact: [TaskIdentifier: TaskDeclaration] = [:]
            for task in manifest.tasks where !task.pattern.isWildcard { exact[task.pattern.base] = task }
            if let app = manifest.appLaunch { exact[app] = TaskDeclaration(appLaunch: app) }
            self.exact = exact
            wildcards = manifest.tasks.filter { $0.pattern.isWildcard }
                .sorted { $0.pattern.isNarrower(than: $1.pattern) }
        }

        static func == (left: Bundle, right: Bundle) -> Bool {
            left === right || left.manifest == right.manifest
        }

        func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
            exact[identifier] ?? wildcards.first { $0.pattern.matches(identifier) }
        }
    }

    private var bundles: [BundleIdentifier: Bundle] = [:]

    init(_ manifests: [Manifest]) {
        for manifest in manifests { bundles[manifest.bundle] = Bundle(manifest) }
    }

    /// Every bundle that has a manifest.
    var bundleIdentifiers: Set<BundleIdentifier> { Set(bundles.keys) }

    /// A bundle's manifest.
    func manifest(of bundle: BundleIdentifier) -> Manifest? { bundles[bundle]?.manifest }

    /// The bundles whose manifests are not the same here and there.
    func bundlesThatDiffer(from other: Permits) -> Set<BundleIdentifier> {
        Set(bundles.keys).union(other.bundles.keys).filter { bundles[$0] != other.bundles[$0] }
    }

    /// What this bundle's manifest says of the identifier.
    func declaration(for identifier: TaskIdentifier, of bundle: BundleIdentifier) -> TaskDeclaration? {
        bundles[bundle]?.declaration(for: identifier)
    }

    /// The bundle that permits an identifier: one that names it wins over one with a wildcard, a longer
    /// wildcard over a shorter, and the registry refuses equals.
    func owner(of identifier: TaskIdentifier) -> (manifest: Manifest, declaration: TaskDeclaration)? {
        var best: (manifest: Manifest, declaration: TaskDeclaration)?
        for entry in bundles.values {
            guard let declaration = declaration(for: identifier, of: entry.manifest.bundle) else { continue }
            if let other = best {
                // Equals should not have been taken; if they were, every process answers the same.
                let isNarrower = declaration.pattern.isNarrower(than: other.declaration.pattern)
                let isBroader = other.declaration.pattern.isNarrower(than: declaration.pattern)
                if isBroader || (!isNarrower && other.manifest.bundle < entry.manifest.bundle) { continue }
            }
            best = (entry.manifest, declaration)
        }
        return best
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

extension IdentifierPattern {
    /// Whether it says more of an identifier that both match.
    func isNarrower(than other: Self) -> Bool {
        if isWildcard != other.isWildcard { return !isWildcard }
        return base.rawValue.utf8.count > other.base.rawValue.utf8.count
    }
}
