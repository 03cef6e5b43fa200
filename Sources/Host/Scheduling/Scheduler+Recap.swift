import TaskModel

extension Scheduler {
    /// The events that bring a new scheduler to where this one stands, `started` among them, for a log that
    /// begins here.
    ///
    /// A scheduler that gets them launches what this one launches from here on, at the same moments. What
    /// only texts show, such as since when a condition holds, is not kept.
    ///
    /// - Returns: The events; `nil` while a launch is under way, an answer is awaited or a pass is not
    ///   through: no later event contains that.
    public func recap() -> [SchedulerEvent]? {
        guard isStarted, !isShuttingDown, !isPassCut, launches.isEmpty,
            let schedules = schedules.recap(under: situation.conditions)
        else { return nil }
        var events: [SchedulerEvent] = [
            .settingsChanged(settings), .localTimeChanged(offset: situation.localOffset),
            .handlersChanged(situation.permits.manifests), .conditionsChanged(situation.conditions),
        ]
        // Coming to the foreground is a use; what is restored afterwards has it already.
        events += situation.foreground.sorted().map { .foregroundChanged($0, true) }
        for (bundle, state) in situation.bundles.sorted(by: { $0.key < $1.key }) {
            events.append(.bundleRestored(bundle, state))
        }
        events += schedules.before
        let requests = pending.all.sorted { $0.id < $1.id }
        events += requests.map(SchedulerEvent.submitted)
        events.append(.started)
        events += schedules.after
        events += requests.filter { pending.isSimulated($0.id) }.map { .simulate($0.id) }
        return events
    }
}

extension Permits {
    /// The manifests, by bundle.
    var manifests: [Manifest] { bundleIdentifiers.sorted().compactMap(manifest(of:)) }
}

extension ScheduleBook {
    /// The events before and after the start that bring an empty book here; `nil` while an answer is awaited.
    func recap(under conditions: Conditions) -> (before: [SchedulerEvent], after: [SchedulerEvent])? {
        guard isSettled(under: conditions) else { return nil }
        return (
            lastBegins.map { .lastLaunched($0.key, $0.value) },
            triggeredIdentifiers.map { .scheduleTriggered($0) }
        )
    }
}
