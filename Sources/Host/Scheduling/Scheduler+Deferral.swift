import TaskModel

/// Activities are asked to stop before they expire: `shouldDefer`, then after a while the expiration.
extension Scheduler {
    /// Whether a policy's word about this launch is passed on as a wish first; critical heat leaves no time
    /// for wishes.
    func mayDefer(_ launch: ActiveLaunch, _ policy: any Policy) -> Bool {
        launch.request.kind == .activity && policy.deferralReason != nil
            && situation.conditions.thermal.value != .critical
    }

    /// Asks an activity to stop where a policy would keep it from starting now, or takes that back.
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
        // The time runs from the first veto on; the newest is the one that is reported.
        launch.deferral = ActiveLaunch.Deferral(
            since: launch.deferral?.since ?? now.boot, reason: reason, verdict: verdict)
    }

    private func veto(against launch: ActiveLaunch, at now: Moment) -> (Reason, Verdict)? {
        let subject = situation.subject(launch.request, isRunning: true, isTelling: true)
        for (index, policy) in Self.policies.enumerated() {
            guard let reason = policy.deferralReason, !launch.exempt.contains(index) else { continue }
            let answer = policy.answer(for: subject, in: situation, at: now)
            // It holds a slot itself: that none is free speaks against others.
            if answer.isVeto, answer.fact != .slot { return (reason, policy.verdict(answer, in: situation)) }
        }
        guard launch.beganIdle, situation.conditions.user == .known(.active) else { return nil }
        let rationale = Rationale(
            quantity: "deviceActivity", required: "idle, as when the launch began", observed: "in use",
            remedy: "Leave the device alone for 5 min")
        return (.userReturned, .stop("DeviceActivity", rationale, since: situation.since.user))
    }
}
