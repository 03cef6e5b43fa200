import TaskModel

/// Asks activities to stop by themselves (`shouldDefer`) before they expire.
extension Scheduler {
    /// Whether a launch is first asked to stop by itself if a policy objects: true for activities, unless the
    /// thermal state is critical.
    func mayDefer(_ launch: ActiveLaunch, _ policy: any Policy) -> Bool {
        launch.request.kind == .activity && policy.deferralReason != nil
            && situation.conditions.thermal.value != .critical
    }

    /// Asks an activity to stop if a policy has a veto now, or withdraws this if no policy has one any more.
    mutating func reconsider(
        _ launch: inout ActiveLaunch, _ id: LaunchID, at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        guard launch.request.kind == .activity else { return }
        guard let (reason, verdict) = veto(against: launch, at: now) else {
            if launch.deferral != nil { actions.append(.setShouldDefer(id, false)) }
            launch.deferral = nil
            return
        }
        if launch.deferral == nil { actions.append(.setShouldDefer(id, true)) }
        // The time counts from the first veto, but the newest veto is reported.
        launch.deferral = ActiveLaunch.Deferral(
            since: launch.deferral?.since ?? now.boot, reason: reason, verdict: verdict)
    }

    private func veto(against launch: ActiveLaunch, at now: Moment) -> (Reason, Verdict)? {
        let subject = situation.subject(launch.request, isRunning: true, isTelling: true)
        for (index, policy) in Self.policies.enumerated() {
            guard let reason = policy.deferralReason, !launch.exempt.contains(index) else { continue }
            let answer = policy.answer(for: subject, in: situation, at: now)
            // The launch occupies a slot itself, so a lack of free slots is no reason to stop it.
            if answer.isVeto, answer.fact != .slot {
                return (answer.reason ?? reason, policy.verdict(answer, in: situation))
            }
        }
        guard launch.beganIdle, situation.conditions.user == .known(.active) else { return nil }
        let rationale = Rationale(
            quantity: "deviceActivity", required: "idle, as when the launch began", observed: "in use",
            remedy: "Leave the device alone for 5 min")
        return (.userReturned, .stop("DeviceActivity", rationale, since: situation.since.user))
    }
}
