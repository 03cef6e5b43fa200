public import TaskModel

extension Scheduler {
    /// Checks whether the background refresh of a bundle may be switched to this permission.
    ///
    /// - Throws: ``SubmissionError`` if only the administrator may do that, or if it would have no effect.
    public func checkRefreshSwitch(
        of bundle: BundleIdentifier, to permission: RefreshPermission, byAdministrator: Bool
    ) throws(SubmissionError) {
        guard !byAdministrator else { return }
        func refuse(_ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(
                code: .notPermitted, subject: bundle.rawValue, finding: finding, remedy: remedy)
        }
        if permission == .restricted {
            throw refuse(
                "only the administrator can restrict background refresh",
                "Deny it (bgtask settings refresh \(bundle) deny), or write 'refresh: restricted' for the bundle in "
                    + "the host's configuration")
        }
        let (inForce, isOfHost) = settings.refreshInForce(of: bundle, bundleState(bundle))
        // Anyone may deny it in addition; this takes effect when the host no longer restricts it.
        if isOfHost, permission == .available {
            throw refuse(
                "the host's configuration sets 'refresh: \(inForce.rawValue)' for all bundles, so that allowing it for "
                    + "one has no effect",
                "Set 'refresh: available' in the host's configuration"
                    + (inForce == .restricted ? "; only the administrator can do that" : ""))
        }
        if !isOfHost, inForce == .restricted {
            throw refuse(
                "the administrator restricted background refresh of this bundle in the host's configuration, and only "
                    + "the administrator can lift that",
                "Ask the administrator to change bundles.\(bundle).refresh")
        }
    }

    mutating func applyToBundle(
        _ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        switch event {
        case .bundleRestored(let bundle, let state):
            situation.bundles[bundle] = state
            setRanks(of: bundle)
            pending.release(.bundle(bundle))
        case .used(let bundle): use(bundle, at: now)
        case .dismissed(let bundle):
            changeBundle(bundle) { $0.dismissedAt = $0.dismissedAt ?? now.wall }
            cancelQueued(of: bundle, &actions)
        case .refreshSwitched(let bundle, let permission):
            changeBundle(bundle) {
                // The first change is recorded even if the value stays the same, because a user's choice
                // overrides the configuration.
                if $0.refresh != permission || $0.refreshChangedAt == nil { $0.refreshChangedAt = now.wall }
                $0.refresh = permission
            }
        case .budgetChanged(let bundle, let launches, let cpu, let burst):
            changeBundle(bundle) {
                $0.budget.launchLimit = launches
                $0.budget.cpuLimit = cpu
                $0.budget.burst = burst.map { min(1, max(0, $0)) }
            }
        case .bundlePaused(let bundle, let pause):
            changeBundle(bundle) {
                $0.pause = pause
                guard pause == nil else { return }
                $0.crashPause = nil
                $0.crashes = []
            }
            agenda.checkAll()
        case .crashPauseEnded(let bundle):
            changeBundle(bundle) {
                $0.crashPause = nil
                $0.crashes = []
            }
        case .foregroundChanged(let bundle, let isForeground):
            if isForeground {
                situation.foreground.insert(bundle)
                use(bundle, at: now)
            } else {
                situation.foreground.remove(bundle)
            }
        default: break
        }
    }

    /// Changes the state of a bundle; if it differs, it is saved, and the requests that wait for it are
    /// judged again.
    ///
    /// If `canRelease` is false, the change can't help any request, so none is judged again.
    mutating func changeBundle(
        _ bundle: BundleIdentifier, canRelease: Bool = true, _ change: (inout BundleState) -> Void
    ) {
        var state = bundleState(bundle)
        change(&state)
        guard state != bundleState(bundle) else { return }
        situation.bundles[bundle] = state
        setRanks(of: bundle)
        unsaved.insert(bundle)
        if canRelease { pending.release(.bundle(bundle)) }
    }

    /// Sets the place of a bundle in the order for free slots, in both fair lanes: how much service its work
    /// of the lane had, for its weight; see ``ServiceAccount``.
    mutating func setRanks(of bundle: BundleIdentifier) {
        let (state, weight) = (bundleState(bundle), settings.weight(of: bundle))
        pending.setRanks(
            LaneRanks(
                short: state.shortService.rank(weight: weight), long: state.service.rank(weight: weight)),
            of: bundle)
    }

    /// Corrects the service of bundles that was counted while the wall clock was wrong and ahead.
    ///
    /// Otherwise, such a bundle would be last in its lane until that time comes.
    mutating func forgetServiceInFuture(at now: Moment) {
        for (bundle, state) in situation.bundles {
            let times = [state.service.at, state.shortService.at].compactMap(\.self)
            guard times.contains(where: { $0 > now.wall }) else { continue }
            changeBundle(bundle, canRelease: false) {
                $0.service.clamp(to: now.wall)
                $0.shortService.clamp(to: now.wall)
            }
        }
    }

    private mutating func use(_ bundle: BundleIdentifier, at now: Moment) {
        let situation = situation
        defer { rejudgeDates(of: bundle, learntFrom: situation, at: now) }
        changeBundle(bundle) {
            $0.lastUsed = now.wall
            $0.dismissedAt = nil
            $0.usage.count(at: now.wall, in: situation)
        }
    }

    /// Judges the requests of a bundle again if its hours of use may have changed, because their alarms
    /// depend on them.
    private mutating func rejudgeDates(
        of bundle: BundleIdentifier, learntFrom before: Situation, at now: Moment
    ) {
        guard before.bundles[bundle]?.usage != bundleState(bundle).usage,
            bundleState(bundle).usage.likelihood(at: now.wall, in: situation) != nil
        else { return }
        let situation = situation
        pending.release(of: [bundle], at: now.wall) { situation.needs(of: $0) }
    }

    /// Cancels the continued tasks that wait, because the user who started them has dismissed the bundle.
    private mutating func cancelQueued(of bundle: BundleIdentifier, _ actions: inout [SchedulerAction]) {
        for request in pending.requests(of: bundle) where request.kind == .continuedProcessing {
            pending.remove(request.id)
            actions.append(.cancelRequest(request.id, .cancelledByUser))
        }
    }

    /// Counts a launch that begins; returns the values to restore if it does not start after all.
    mutating func countLaunch(of request: TaskRequest, at now: Moment) -> ActiveLaunch.PreviousLaunch? {
        guard RateLimit.binds(request) else { return nil }
        let (situation, state) = (situation, bundleState(request.bundle))
        changeBundle(request.bundle, canRelease: false) {
            $0.recent.note(request.identifier, request.kind, at: now.wall, situation.settings)
            if request.kind == .push { $0.lastPush = now.wall }
            guard request.kind == .appRefresh else { return }
            $0.lastRefresh = now.wall
            $0.budget.spend(launches: 1, at: now.wall, in: situation)
        }
        return ActiveLaunch.PreviousLaunch(
            ofIdentifier: state.recent.newest(of: request.identifier, at: now.wall),
            ofKind: request.kind == .push ? state.lastPush : state.lastRefresh,
            countedAt: now.wall, day: situation.localDay(now.wall))
    }

    /// Reverses the counting of a launch that did not start.
    mutating func uncountLaunch(_ launch: ActiveLaunch) {
        guard let previous = launch.previousLaunch else { return }
        let request = launch.request
        changeBundle(request.bundle) {
            $0.recent.forget(
                request.identifier, request.kind, beganAt: previous.countedAt, previous: previous.ofIdentifier
            )
            if request.kind == .push { $0.lastPush = previous.ofKind }
            guard request.kind == .appRefresh else { return }
            $0.lastRefresh = previous.ofKind
            if $0.budget.day == previous.day { $0.budget.launches = max(0, $0.budget.launches - 1) }
        }
    }

    /// Gives a bundle back what a launch took from the budget of the day.
    ///
    /// A launch that was stopped because its turn was over brought the bundle nothing that it asked for, and
    /// its next attempt counts again. Its CPU time stays spent, because the battery gave it.
    mutating func refundLaunch(_ launch: ActiveLaunch) {
        guard let previous = launch.previousLaunch, launch.request.kind == .appRefresh else { return }
        changeBundle(launch.request.bundle) {
            if $0.budget.day == previous.day { $0.budget.launches = max(0, $0.budget.launches - 1) }
        }
    }

    /// Charges a launch to its bundle, and updates the bundle's conduct.
    mutating func account(_ launch: ActiveLaunch, _ ending: LaunchEnding, at now: Moment) {
        guard !launch.isSimulated else { return }
        let (situation, settings) = (situation, settings)
        let points = launch.conductPoints(ending, settings, at: now)
        let isCharged =
            launch.request.isDiscretionary && !launch.needs.externalPower && ending.cpuTime > .zero
        changeBundle(launch.request.bundle) {
            $0.conduct.add(points, on: situation.localDay(now.wall), settings)
            switch launch.request.lane {
            case .short: $0.shortService.add(cpu: ending.cpuTime, at: now.wall)
            case .long: $0.service.add(cpu: ending.cpuTime, at: now.wall)
            case .simulated, .continued, .urgent, .app: break
            }
            if isCharged { $0.budget.spend(cpu: ending.cpuTime, at: now.wall, in: situation) }
            $0.noteCrash(ending, at: now.wall, settings)
            if $0.crashPause?.launch == nil { $0.crashPause?.launch = launch.id }
        }
    }
}

extension BundleState {
    /// Counts a crash, and pauses the bundle at the last one of too many in a row; a success ends the row.
    ///
    /// A pause that a person ordered stays beside this one, and each ends by itself.
    fileprivate mutating func noteCrash(
        _ ending: LaunchEnding, at time: WallTime, _ settings: SchedulerSettings
    ) {
        if ending.outcome == .succeeded { crashes = [] }
        guard ending.outcome == .crashed, settings.crashLimit > 0, crashPause == nil else { return }
        // A crash in the future was counted before the wall clock was set back.
        crashes = crashes.filter { $0 <= time && time - $0 < settings.crashPeriod } + [time]
        guard crashes.count >= settings.crashLimit else { return }
        crashPause = Pause(since: time, until: nil, crashes: crashes.count, library: ending.libraryHash)
        crashes = []
    }
}
