import TaskModel

/// Keeps refresh launches of one bundle, and its push launches, about 15 min apart.
///
/// A request that was put back is the same work going on, so it does not wait for its turn again.
struct RateLimit: Policy {
    let name = "RateLimit"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        let (last, spacing): (WallTime?, Duration)
        switch request.kind {
        case .appRefresh: (last, spacing) = (subject.bundle.lastRefresh, situation.settings.refreshSpacing)
        case .push: (last, spacing) = (subject.bundle.lastPush, situation.settings.pushSpacing)
        case .processing, .continuedProcessing, .transferEvents, .activity, .appLaunch:
            return subject.proceed()
        }
        // A launch that lies ahead was recorded before the wall clock was set back.
        guard request.attempt == 1, let last, last <= now.wall else { return subject.proceed() }
        let next = last + spacing
        func rationale() -> Rationale {
            Rationale(
                quantity: request.kind == .push ? "timeSincePush" : "timeSinceRefresh",
                required: "\(spacing.text) since the last of \(request.bundle)",
                observed: "\((now.wall - last).text)", earliestChange: next > now.wall ? next : nil,
                remedy: next > now.wall
                    ? "Wait, or skip the policies: bgtask launch \(request.identifier)" : nil)
        }
        guard next > now.wall else { return subject.proceed(rationale()) }
        return subject.wait(for: .bundle(request.bundle), until: next, since: last, rationale())
    }
}
