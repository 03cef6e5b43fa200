import TaskModel

/// Holds refresh, processing and push requests while background refresh is off, for the bundle or the whole
/// host.
///
/// Only the administrator can change the state `restricted`.
struct RefreshAllowed: Policy {
    let name = "RefreshAllowed"
    let reach = Reach.bundle

    /// Whether the switch for background refresh applies to requests of a kind.
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

    /// The switch that prevents a bundle's background refresh, and a remedy, for people; `nil` if refresh is
    /// available.
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
    /// The state of background refresh for a bundle, and whether the host-wide switch determines it.
    ///
    /// If the host-wide switch is off, the switches of single bundles have no effect.
    func refreshInForce(of bundle: BundleIdentifier, _ state: BundleState)
        -> (permission: RefreshPermission, isOfHost: Bool)
    {
        refresh == .available ? (refreshSwitch(of: bundle, state), false) : (refresh, true)
    }

    /// The state of a bundle's own switch.
    ///
    /// A configured `restricted` comes first, then the user's choice, then any other configured value.
    func refreshSwitch(of bundle: BundleIdentifier, _ state: BundleState) -> RefreshPermission {
        guard let configured = bundleRefresh[bundle] else { return state.refresh }
        let isChosen = state.refreshChangedAt != nil && state.refresh != .restricted
        return configured == .restricted || !isChosen ? configured : state.refresh
    }
}
