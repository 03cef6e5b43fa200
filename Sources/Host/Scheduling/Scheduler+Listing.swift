public import TaskModel

extension Scheduler {
    /// The bundles that have a manifest or a stored state, sorted.
    public var knownBundles: [BundleIdentifier] {
        Set(situation.bundles.keys).union(situation.permits.bundleIdentifiers)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether a bundle has a manifest or a stored state.
    public func knows(_ bundle: BundleIdentifier) -> Bool {
        situation.permits.has(bundle) || situation.bundles[bundle] != nil
    }

    /// The state of a bundle, with its budget of today.
    public func facts(of bundle: BundleIdentifier, at now: Moment) -> BundleFacts {
        var state = bundleState(bundle)
        state.refresh = settings.refreshInForce(of: bundle, state).permission
        let budget = state.budget.current(at: now.wall, in: situation)
        return BundleFacts(
            bundle: bundle, isInstalled: situation.permits.has(bundle), state: state,
            launchesToday: budget.launches, launchLimit: budget.launchLimit(settings),
            cpuToday: budget.cpu, cpuLimit: budget.cpuLimit(settings))
    }
}

extension Scheduler {
    /// The task in a bundle's manifest that permits an identifier; `nil` if there is none.
    public func declaration(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskDeclaration? {
        situation.permits.declaration(for: identifier, of: bundle)
    }

    /// The kind of the task in a bundle's manifest that permits an identifier; `nil` if there is none.
    public func kind(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskKind? {
        declaration(of: identifier, in: bundle)?.kind
    }

    /// The effective permission for a bundle's background refresh: the host's own setting, or else the
    /// bundle's.
    public func refreshPermission(of bundle: BundleIdentifier) -> RefreshPermission {
        settings.refreshInForce(of: bundle, bundleState(bundle)).permission
    }

    /// The states of all bundles that have one.
    public var bundleStates: [BundleIdentifier: BundleState] { situation.bundles }

    /// All pending requests, in no particular order.
    public var pendingRequests: some Sequence<TaskRequest> { pending.all }
}
