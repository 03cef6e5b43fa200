import TaskModel

// What people can do about the policies that look at a bundle, its rules and the slots. A new policy has its
// words and acts in its own file.

extension Permission {
    var awaited: String { "a manifest that permits it" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let request = subject.request
        let refusal = scheduler.situation.permits.refusal(
            of: request.identifier, kind: request.kind, bundle: request.bundle)
        guard let refusal else { return [] }
        return [PossibleAct(text: refusal.act, command: refusal.command, effect: .unknown)]
    }
}

extension Paused {
    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        guard let pause = situation.pause(of: subject.bundle, at: now.wall)?.pause,
            let crashes = pause.crashes
        else { return awaited }
        let report = pause.launch.map { " (see bgtask report \($0))" } ?? ""
        return "another library or the end of its pause, because its bundle crashed \(crashes) times within "
            + situation.settings.crashPeriod.text + report
    }

    /// The act that tries a task of a bundle whose launches crashed; `nil` for pauses of users.
    func trial(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> PossibleAct? {
        let pause = scheduler.situation.pause(of: subject.bundle, at: now.wall)?.pause
        guard pause?.crashes != nil else { return nil }
        var act = Foresight(scheduler, at: now).launchAct(subject.request)
        act?.short = "Try it now"
        return act
    }
}

extension EarliestBeginDate {
    var awaited: String { "its begin date" }

    /// What a request with a back-off waits for.
    static let backOff = "its next attempt"

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        let date = Self.date(of: subject.request, subject.needs, at: now.wall)
        return date == subject.request.effectiveBeginDate ? awaited : Self.backOff
    }
}

extension RefreshAllowed {
    var awaited: String { "background refresh to be allowed" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let bundle = subject.request.bundle
        let (permission, isOfHost) = scheduler.settings.refreshInForce(of: bundle, subject.bundle)
        guard Self.binds(subject.request.kind), permission != .available else { return [] }
        if isOfHost {
            var settings = scheduler.settings
            settings.refresh = .available
            return [
                PossibleAct(
                    text: permission == .restricted
                        ? "Ask the administrator to set 'refresh: available' in the host's configuration"
                        : "Set 'refresh: available' in the host's configuration",
                    effect: .event(.settingsChanged(settings)))
            ]
        }
        if permission == .restricted {
            return [
                PossibleAct(
                    text: "Ask the administrator to set bundles.\(bundle).refresh to available",
                    effect: .unknown)
            ]
        }
        return [
            .command(
                "Allow background refresh", short: "Allow it", ["settings", "refresh", "\(bundle)", "allow"],
                .event(.refreshSwitched(bundle, .available)))
        ]
    }
}

extension Dismissed {
    var awaited: String { "its bundle to be used again" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.bundle.dismissedAt != nil else { return [] }
        let bundle = subject.request.bundle
        return [.command("Use the bundle", short: "Use it", ["used", "\(bundle)"], .event(.used(bundle)))]
    }
}

extension RateLimit {
    var awaited: String { "the time between two launches" }
}

extension OneLaunchPerIdentifier {
    var awaited: String { "its running launch to end" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let other = scheduler.situation.occupancy.requests[subject.request.identifier],
            let launch = scheduler.launches[other], let id = launch.id, !launch.isExpiring
        else { return [] }
        return [.stopping(launch, id, at: now)]
    }
}

extension Concurrency {
    var awaited: String { "a free slot" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let lane = subject.request.lane
        let limit = scheduler.situation.slots(of: lane)
        if limit < 1 {
            let setting = Self.names(of: lane).setting
            return [
                PossibleAct(
                    text: "Set scheduling.\(setting) to 1 or more in the host's configuration",
                    effect: .unknown)
            ]
        }
        guard scheduler.situation.occupancy.slots(of: lane).count >= limit else { return [] }
        return scheduler.holders(of: [lane]).compactMap { id, launch in
            launch.isExpiring ? nil : .stopping(launch, id, at: now)
        }
    }
}

extension Scheduler {
    /// The acts that stop a deferrable launch, if a policy holds a request because there are too many.
    func stops(for policy: some Policy, _ subject: Subject, at now: Moment) -> [PossibleAct] {
        guard policy.answer(for: subject, in: situation, at: now).fact == .slot else { return [] }
        return holders(of: [.short, .long]).compactMap { id, launch in
            launch.isExpiring ? nil : .stopping(launch, id, at: now)
        }
    }

    /// The launches under way in some lanes, the oldest first.
    func holders(of lanes: [Lane]) -> [(LaunchID, ActiveLaunch)] {
        launches.values.compactMap { launch in
            lanes.contains(launch.request.lane) ? launch.id.map { ($0, launch) } : nil
        }.sorted { $0.0 < $1.0 }
    }
}
