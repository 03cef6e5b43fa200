public import TaskModel

extension Scheduler {
    /// Every bundle that a manifest has or that something is remembered of, by name.
    public var knownBundles: [BundleIdentifier] {
        Set(situation.bundles.keys).union(situation.permits.bundleIdentifiers)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether a manifest has the bundle, or something is remembered of it.
    public func knows(_ bundle: BundleIdentifier) -> Bool {
        situation.permits.has(bundle) || situation.bundles[bundle] != nil
    }

    /// One bundle with what it spent today.
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
    /// What a bundle's manifest says of an identifier; `nil` if it does not permit it.
    public func declaration(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskDeclaration? {
        situation.permits.declaration(for: identifier, of: bundle)
    }

    /// The kind that a bundle's manifest gives an identifier; `nil` if it does not permit it.
    public func kind(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskKind? {
        declaration(of: identifier, in: bundle)?.kind
    }

    /// The switch for a bundle's background refresh that is in force: the host's own, else the bundle's.
    public func refreshPermission(of bundle: BundleIdentifier) -> RefreshPermission {
        settings.refreshInForce(of: bundle, bundleState(bundle)).permission
    }

    /// What is remembered of each bundle.
    public var bundleStates: [BundleIdentifier: BundleState] { situation.bundles }

    /// Every pending request, in no order.
    public var pendingRequests: some Sequence<TaskRequest> { pending.all }
}
