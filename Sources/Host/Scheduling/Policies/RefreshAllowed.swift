import TaskModel

/// The user's switch for background refresh, per bundle and for the host; only the administrator lifts `restricted`.
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
        let (permission, whose) =
            settings.refresh != .available
            ? (settings.refresh, "the host") : (settings.refreshSwitch(of: bundle, state), "\(bundle)")
        switch permission {
        case .available: return nil
        case .denied:
            return (
                "denied for \(whose)",
                settings.refresh == .available
                    ? "Allow it: bgtask settings refresh \(bundle) allow"
                    : "Allow it in the host's configuration"
            )
        case .restricted:
            return ("restricted for \(whose)", "Ask the administrator: only that configuration lifts it")
        }
    }
}

extension SchedulerSettings {
    /// The switch of a bundle that is in force: the administrator's restriction, else the user's choice, else what is
    /// configured.
    func refreshSwitch(of bundle: BundleIdentifier, _ state: BundleState) -> RefreshPermission {
        guard let configured = bundleRefresh[bundle] else { return state.refresh }
        let isChosen = state.refreshChangedAt != nil && state.refresh != .restricted
        return configured == .restricted || !isChosen ? configured : state.refresh
    }
}
