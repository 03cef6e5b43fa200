import TaskModel

/// Holds everything of a paused bundle or host, and stops what runs.
///
/// A user ordered the pause, so it also applies to work that is not deferrable. `bgtask launch` starts a task
/// in spite of it.
struct Paused: Policy {
    let name = "Paused"
    let endReason: Reason? = .paused
    let awaited = "the end of a pause"

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let (_, isOfHost) = scheduler.situation.pause(of: subject.bundle, at: now.wall) else {
            return []
        }
        let bundle = subject.request.bundle
        return [
            .command(
                "End the pause", isOfHost ? ["resume"] : ["resume", "\(bundle)"],
                .event(isOfHost ? .pauseChanged(nil) : .bundlePaused(bundle, nil)))
        ]
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let bundle = subject.request.bundle
        guard let (pause, isOfHost) = situation.pause(of: subject.bundle, at: now.wall) else {
            return subject.proceed()
        }
        func rationale() -> Rationale {
            Rationale(
                quantity: "pause", required: "resumed",
                observed: (isOfHost ? "all bundles are" : "the bundle \(bundle) is") + " paused"
                    + (pause.until.map { " until \($0.text)" } ?? ""),
                earliestChange: pause.until,
                remedy: "End the pause: bgtask resume\(isOfHost ? "" : " \(bundle)")")
        }
        let fact = isOfHost ? Fact.pause : .bundle(bundle)
        return subject.isRunning
            ? subject.stop(until: fact, since: pause.since, rationale())
            : subject.wait(for: fact, until: pause.until, since: pause.since, rationale())
    }
}

extension Situation {
    /// The pause that holds a bundle, and whether it is that of the host; `nil` if there is none.
    ///
    /// Of two pauses, the one that ends later counts, because nothing starts before its end.
    func pause(of bundle: BundleState, at time: WallTime) -> (pause: Pause, isOfHost: Bool)? {
        let host = hostPause.flatMap { $0.isInForce(at: time) ? $0 : nil }
        let own = bundle.pause.flatMap { $0.isInForce(at: time) ? $0 : nil }
        guard let host else { return own.map { ($0, false) } }
        guard let own, let hostEnd = host.until else { return (host, true) }
        guard let end = own.until else { return (own, false) }
        return end > hostEnd ? (own, false) : (host, true)
    }
}
