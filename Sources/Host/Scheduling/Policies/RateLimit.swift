import TaskModel

/// How often deferrable launches may begin, wherever their requests came from.
///
/// - One identifier: `launchSpacing` apart.
/// - One bundle: at most `launchesPerHour` of each kind within an hour.
/// - One bundle's refresh launches `refreshSpacing` apart, its pushes of priority 5 `pushSpacing` after any
///   push.
///
/// A request that was put back is the same work going on, and has a back-off of its own: it does not wait for
/// its turn again. What a user asked for and launches of apps have no rate, and launches by `bgtask launch`
/// ask no policy.
struct RateLimit: Policy {
    let name = "RateLimit"

    /// Whether launches of the kind have a rate.
    static func binds(_ kind: TaskKind) -> Bool { kind.isDiscretionary }

    /// One of the rates, as it stands for a request.
    private struct Rate {
        let quantity: String
        let required: String
        let observed: String
        /// Since when it is so.
        var since: WallTime?
        /// When it lets the request begin; past if it does now.
        let next: WallTime
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        guard Self.binds(request.kind), request.attempt == 1 else { return subject.proceed() }
        let rates = [
            bundleSpacing(subject, situation.settings, at: now.wall),
            spacing(subject, situation.settings, at: now.wall),
            hourly(subject, situation.settings, at: now.wall),
        ].compactMap(\.self)
        // The one that holds longest decides; what holds nothing is shown all the same.
        guard let rate = rates.max(by: { $0.next < $1.next }) else { return subject.proceed() }
        let isHeld = rate.next > now.wall
        func rationale() -> Rationale {
            Rationale(
                quantity: rate.quantity, required: rate.required, observed: rate.observed,
                earliestChange: isHeld ? rate.next : nil,
                remedy: isHeld
                    ? situation.remedy("Wait until \(rate.next.text)", orLaunch: request.identifier) : nil)
        }
        guard isHeld else { return subject.proceed(rationale()) }
        return subject.wait(for: .bundle(request.bundle), until: rate.next, since: rate.since, rationale())
    }

    /// The spacing of a bundle's refresh launches and of its considerate pushes.
    private func bundleSpacing(_ subject: Subject, _ settings: SchedulerSettings, at now: WallTime) -> Rate? {
        let request = subject.request
        let (quantity, last, spacing): (String, WallTime?, Duration)
        switch request.kind {
        case .appRefresh:
            (quantity, last, spacing) = (
                "timeSinceRefresh", subject.bundle.lastRefresh, settings.refreshSpacing
            )
        case .push where request.submission.pushPriority == .considerate:
            (quantity, last, spacing) = ("timeSincePush", subject.bundle.lastPush, settings.pushSpacing)
        case .push, .processing, .continuedProcessing, .transferEvents, .activity, .appLaunch: return nil
        }
        // A launch that lies ahead was recorded before the wall clock was set back.
        guard let last, last <= now else { return nil }
        return Rate(
            quantity: quantity, required: "\(spacing.text) or more",
            observed: (now - last).elapsedText, since: last, next: last + spacing)
    }

    /// The spacing of one identifier's launches.
    private func spacing(_ subject: Subject, _ settings: SchedulerSettings, at now: WallTime) -> Rate? {
        let identifier = subject.request.identifier
        guard let last = subject.bundle.recent.newest(of: identifier, at: now) else { return nil }
        return Rate(
            quantity: "timeSinceLaunch",
            required: "\(settings.launchSpacing.text) or more",
            observed: (now - last).elapsedText, since: last, next: last + settings.launchSpacing)
    }

    /// The launches of a kind that a bundle may have within an hour.
    private func hourly(_ subject: Subject, _ settings: SchedulerSettings, at now: WallTime) -> Rate? {
        let (request, recent, limit) = (
            subject.request, subject.bundle.recent, max(1, settings.launchesPerHour)
        )
        guard let next = recent.date(ofFewerThan: limit, of: request.kind, at: now) else { return nil }
        return Rate(
            quantity: "launchesWithinHour",
            required: "less than \(limit)",
            observed: "\(recent.count(of: request.kind, at: now))", next: next)
    }
}
