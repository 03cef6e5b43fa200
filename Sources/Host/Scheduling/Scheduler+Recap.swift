public import TaskModel

extension Scheduler {
    /// The events that bring a new scheduler to the state of this one, so that a log can begin here.
    ///
    /// `started` is among them. A scheduler that receives these events makes the same launches from here on,
    /// at the same times. Values that appear only in texts, such as since when a condition holds, are not
    /// included.
    ///
    /// - Parameter now: The time of the recap.
    /// - Returns: The events. `nil` while a launch is under way, a request has a place because of a conflict,
    ///   an answer is awaited or a pass is not complete, because events can't express these states.
    public func recap(at now: WallTime) -> [SchedulerEvent]? {
        guard isStarted, !isShuttingDown, !isPassCut, launches.isEmpty, conflictQueue.isEmpty,
            let schedules = schedules.recap(under: situation.conditions)
        else { return nil }
        var events: [SchedulerEvent] = [
            .settingsChanged(settings), .localTimeChanged(offset: situation.localOffset),
            .handlersChanged(situation.permits.manifests), .conditionsChanged(situation.conditions),
        ]
        if let outlook { events.append(.outlookChanged(outlook)) }
        if !situation.localTimeChanges.isEmpty {
            events.append(.localTimeChanges(situation.localTimeChanges))
        }
        if let since = situation.pressureSince { events.append(.pressureBegan(since)) }
        if let pause = situation.hostPause { events.append(.pauseChanged(pause)) }
        if situation.sleepSince != nil { events.append(.preparingForSleep(true)) }
        // An app that comes to the foreground counts as used. The states of bundles come later and overwrite
        // that.
        events += situation.foreground.sorted().map { .foregroundChanged($0, true) }
        for (bundle, state) in situation.bundles.sorted(by: { $0.key < $1.key }) {
            events.append(.bundleRestored(bundle, state))
        }
        let requests = pending.all.sorted { $0.id < $1.id }
        // A request that is withdrawn before the start makes its schedule skip its date.
        for request in cancelledRequests(after: now, lastPending: requests.last?.id) {
            events += [.submitted(request), .withdrawn(request.id)]
        }
        events += schedules.before
        events += requests.map(SchedulerEvent.submitted)
        events.append(.started)
        events += schedules.after
        events += requests.filter { pending.isSimulated($0.id) }.map { .simulate($0.id) }
        return events
    }

    /// The scheduled requests that were cancelled and whose dates have not passed, as far as the schedules
    /// need them; their numbers are not the real ones.
    private func cancelledRequests(after now: WallTime, lastPending: RequestID?) -> [TaskRequest] {
        schedules.cancelledDates(after: now).enumerated().map { index, cancelled in
            let permitted = situation.permits.declaration(
                for: cancelled.identifier, of: cancelled.plan.bundle)
            var submission = TaskSubmission(identifier: cancelled.identifier, origin: .schedule)
            submission.earliestBeginDate = cancelled.date
            return TaskRequest(
                id: RequestID(rawValue: (lastPending?.rawValue ?? 0) + Int64(index) + 1),
                submission: submission, bundle: cancelled.plan.bundle,
                kind: permitted?.kind ?? .processing, submittedAt: now, attempt: 1, notBefore: nil,
                deadline: cancelled.date + cancelled.plan.schedule.tolerance)
        }
    }
}

extension Permits {
    /// The manifests, sorted by bundle.
    var manifests: [Manifest] { bundleIdentifiers.sorted().compactMap(manifest(of:)) }
}

extension ScheduleBook {
    /// The events that bring an empty book to this state: those before `started`, and those after it.
    ///
    /// Returns `nil` while an answer is awaited.
    func recap(under conditions: Conditions) -> (before: [SchedulerEvent], after: [SchedulerEvent])? {
        guard isSettled(under: conditions) else { return nil }
        return (
            lastBegins.map { .lastLaunched($0.key, $0.value) },
            triggeredIdentifiers.map { .scheduleTriggered($0) }
        )
    }
}
