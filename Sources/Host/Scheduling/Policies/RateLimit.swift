import TaskModel

/// Limits how often deferrable launches may begin, whatever the origin of their requests.
///
/// - Two launches of one identifier begin at least `launchSpacing` apart.
/// - A bundle has at most `launchesPerHour` launches of each kind within an hour.
/// - Two refresh launches of a bundle begin at least `refreshSpacing` apart. A push launch of priority 5
///   begins at least `pushSpacing` after any other push launch of the bundle.
///
/// The first two limits also apply to urgent pushes. No limit applies to requests that were put back, because
/// those have a back-off, to continued tasks, or to app launches. `bgtask launch` ignores them too. A request
/// of a queue that a client submitted neither counts nor waits: each is work of its own that a client asked
/// for, and the slots limit it. A handler that submits to a queue could submit itself again and again, so the
/// limits apply to its requests. A request that a failure made does not wait either, because each comes from
/// a launch that was limited itself, and starts no further one.
struct RateLimit: Policy {
    let name = "RateLimit"

    /// Whether the rate limits apply to launches of a kind.
    static func binds(_ kind: TaskKind) -> Bool { kind.isDiscretionary }

    /// Whether the rate limits apply to the launches of a request, and count them.
    static func binds(_ request: TaskRequest) -> Bool {
        binds(request.kind)
            && !(request.isQueued && [.client, .failure].contains(request.submission.origin))
    }

    /// The state of one of the limits for one request.
    private struct Rate {
        let quantity: String
        let required: String
        let observed: String
        /// When the newest launch began, for a limit on spacing; otherwise `nil`.
        var since: WallTime?
        /// The earliest time at which the limit allows the request to start; not later than now if the limit
        /// allows the start already.
        let next: WallTime
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        guard Self.binds(request), request.attempt == 1 else { return subject.proceed() }
        let rates = [
            bundleSpacing(subject, situation.settings, at: now.wall),
            spacing(subject, situation.settings, at: now.wall),
            hourly(subject, situation.settings, at: now.wall),
        ].compactMap(\.self)
        // The limit that holds the request longest decides. A limit that does not hold it is still shown.
        guard let rate = rates.max(by: { $0.next < $1.next }) else { return subject.proceed() }
        let isHeld = rate.next > now.wall
        func rationale() -> Rationale {
            Rationale(
                quantity: rate.quantity, required: rate.required, observed: rate.observed,
                earliestChange: isHeld ? rate.next : nil,
                remedy: isHeld
                    ? situation.remedy("Wait until \(rate.next.text)", orLaunch: subject) : nil)
        }
        guard isHeld else { return subject.proceed(rationale()) }
        return subject.wait(for: .bundle(request.bundle), until: rate.next, since: rate.since, rationale())
    }

    /// The limit on the spacing of a bundle's refresh launches, or of its pushes of priority 5.
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
        // A launch in the future was recorded before the wall clock was set back.
        guard let last, last <= now else { return nil }
        return Rate(
            quantity: quantity, required: "\(spacing.text) or more",
            observed: (now - last).elapsedText, since: last,
            next: request.kind == .appRefresh ? Self.end(of: spacing, after: last) : last + spacing)
    }

    /// When the spacing of refreshes has passed, in whole minutes if it is 10 min or longer.
    ///
    /// Many bundles can become due at once and take the slots one after another, some seconds apart. If these
    /// seconds counted, each would be due at a time of its own from then on, and wake the host alone.
    private static func end(of spacing: Duration, after last: WallTime) -> WallTime {
        let end = last + spacing
        guard spacing >= .seconds(600) else { return end }
        return max(last, WallTime(sinceEpoch: .seconds(end.wholeSeconds.floorDivided(by: 60) * 60)))
    }

    /// The limit on the spacing of one identifier's launches.
    private func spacing(_ subject: Subject, _ settings: SchedulerSettings, at now: WallTime) -> Rate? {
        let identifier = subject.request.identifier
        guard let last = subject.bundle.recent.newest(of: identifier, at: now) else { return nil }
        return Rate(
            quantity: "timeSinceLaunch",
            required: "\(settings.launchSpacing.text) or more",
            observed: (now - last).elapsedText, since: last, next: last + settings.launchSpacing)
    }

    /// The limit on a bundle's launches of one kind within an hour.
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
