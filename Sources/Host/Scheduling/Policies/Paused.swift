import TaskModel

/// Holds everything of a paused bundle or host, and stops what runs.
///
/// A user ordered the pause, so it also applies to work that is not deferrable. `bgtask launch` starts a task
/// in spite of it.
///
/// The host itself pauses a bundle whose launches crash again and again. Such a pause stops nothing that
/// runs, and ends with a new library or with `bgtask resume`.
struct Paused: Policy {
    let name = "Paused"
    let endReason: Reason? = .paused
    let awaited = "the end of a pause"

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let (bundle, time) = (subject.request.bundle, now.wall)
        let ofHost = scheduler.situation.hostPause.map { $0.isInForce(at: time) } ?? false
        let ofBundle = subject.bundle.pause.map { $0.isInForce(at: time) } ?? false
        var acts: [PossibleAct] = []
        if ofBundle {
            acts.append(
                .command(
                    "End the pause of \(bundle)", short: "End it", ["resume", "\(bundle)"],
                    .event(.bundlePaused(bundle, nil))))
        }
        if ofHost {
            acts.append(
                .command(
                    "End the pause of all bundles", short: "End it", ["resume"],
                    .event(.pauseChanged(nil))))
        }
        for index in acts.indices { acts[index].isStep = true }
        if let trial = trial(for: subject, in: scheduler, at: now) { acts.insert(trial, at: 0) }
        return acts
    }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let bundle = subject.request.bundle
        guard
            let (pause, isOfHost) = situation.pause(
                of: subject.bundle, isRunning: subject.isRunning, at: now.wall)
        else { return subject.proceed() }
        func rationale() -> Rationale {
            if let crashes = pause.crashes {
                return Rationale(
                    quantity: "pause", required: "resumed, or get another library",
                    observed: "the bundle \(bundle) is paused, because \(crashes) launches in a row crashed",
                    remedy: "Install a corrected library, or end the pause: bgtask resume \(bundle)")
            }
            return Rationale(
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
    ///
    /// A pause because of crashes does not hold what runs.
    func pause(
        of bundle: BundleState, isRunning: Bool = false, at time: WallTime
    ) -> (pause: Pause, isOfHost: Bool)? {
        let host = hostPause.flatMap { $0.isInForce(at: time) ? $0 : nil }
        let own = bundle.pause.flatMap {
            $0.isInForce(at: time) && !(isRunning && $0.crashes != nil) ? $0 : nil
        }
        guard let host else { return own.map { ($0, false) } }
        guard let own, let hostEnd = host.until else { return (host, true) }
        guard let end = own.until else { return (own, false) }
        return end > hostEnd ? (own, false) : (host, true)
    }
}
