import TaskModel

/// The user's switch for background refresh, per bundle and for the host; only the administrator lifts
/// `restricted`.
struct RefreshAllowed: Policy {
    let name = "RefreshAllowed"
    let reach = Reach.bundle

    /// The kinds that the switch holds.
    static func binds(_ kind: TaskKind) -> Bool {
        switch kind {
        case .appRefresh, .processing, .push: true
        case .continuedProcessing, .transferEvents, .activity, .appLaunch: false
        }
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard Self.binds(subject.request.kind) else { return subject.proceed() }
        guard let refusal = Self.refusal(subject.request.bundle, subject.bundle, situation.settings) else {
            return subject.proceed()
        }
        return subject.wait(
            for: .bundle(subject.request.bundle), since: subject.bundle.refreshChangedAt,
            Rationale(
                quantity: "backgroundRefresh", required: "available", observed: refusal.observed,
                remedy: refusal.remedy))
    }

    /// What speaks against a bundle's refreshing, if anything does.
    static func refusal(_ bundle: BundleIdentifier, _ state: BundleState, _ settings: SchedulerSettings)
        -> (observed: String, remedy: String)?
    {
        let (permission, isOfHost) = settings.refreshInForce(of: bundle, state)
        let whose = isOfHost ? "the host" : "\(bundle)"
        switch permission {
        case .available: return nil
        case .denied:
            return (
                "denied for \(whose)",
                isOfHost
                    ? "Set 'refresh: available' in the host's configuration"
                    : "Allow it: bgtask settings refresh \(bundle) allow"
            )
        case .restricted:
            return (
                "restricted for \(whose)",
                "Ask the administrator to set \(isOfHost ? "" : "bundles.\(bundle).")refresh to available in the host's "
                    + "configuration"
            )
        }
    }
}

extension SchedulerSettings {
    /// The switch that decides for a bundle, and whether it is the host's: that one goes before all bundles'
    /// own.
    func refreshInForce(of bundle: BundleIdentifier, _ state: BundleState)
        -> (permission: RefreshPermission, isOfHost: Bool)
    {
        refresh == .available ? (refreshSwitch(of: bundle, state), false) : (refresh, true)
    }

    /// The switch of a bundle that is in force: the administrator's restriction, else the user's choice, else
    /// what is configured.
    func refreshSwitch(of bundle: BundleIdentifier, _ state: BundleState) -> RefreshPermission {
        guard let configured = bundleRefresh[bundle] else { return state.refresh }
        let isChosen = state.refreshChangedAt != nil && state.refresh != .restricted
        return configured == .restricted || !isChosen ? configured : state.refresh
    }
}
