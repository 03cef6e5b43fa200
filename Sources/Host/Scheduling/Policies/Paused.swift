import TaskModel

/// Holds everything of a paused bundle or host, and stops what runs.
///
/// A user ordered the pause, so it also applies to work that is not deferrable. `bgtask launch` starts a task
/// in spite of it.
///
/// A drain is a pause that lets what runs end by itself.
///
/// The host itself pauses a bundle whose launches crash again and again. Such a pause stops nothing that
/// runs, and ends with a new library or with `bgtask resume`. It is kept apart from a pause by a user, so
/// that the end of one does not end the other.
struct Paused: Policy {
    let name = "Paused"
    let endReason: Reason? = .paused
    let awaited = "the end of a pause"

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let (bundle, time) = (subject.request.bundle, now.wall)
        let ofHost = scheduler.situation.hostPause.map { $0.isInForce(at: time) } ?? false
        let ofBundle = subject.bundle.pauses.contains { $0.isInForce(at: time) }
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
                    observed:
                        "the bundle \(bundle) is paused, because \(crashes) of its launches crashed one soon after the other, and none succeeded in between",
                    remedy: "Install a corrected library, or end the pause: bgtask resume \(bundle)")
            }
            return Rationale(
                quantity: "pause", required: "resumed",
                observed: (isOfHost ? "all bundles are" : "the bundle \(bundle) is")
                    + (pause.letsEnd == true ? " drained" : " paused")
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
    /// Of several pauses, the one that ends last counts, because nothing starts before its end. Of two
    /// without an end, that because of crashes comes last, because it says most.
    ///
    /// A pause because of crashes does not hold what runs.
    func pause(
        of bundle: BundleState, isRunning: Bool = false, at time: WallTime
    ) -> (pause: Pause, isOfHost: Bool)? {
        func holds(_ pause: Pause) -> Bool {
            pause.isInForce(at: time) && !(isRunning && (pause.crashes != nil || pause.letsEnd == true))
        }
        let own = bundle.pauses.filter(holds)
        let host = hostPause.flatMap { holds($0) ? $0 : nil }
        let all = [host].compactMap(\.self).map { ($0, true) } + own.map { ($0, false) }
        return all.max { left, right in Self.endsEarlier(left.0, right.0) }
    }

    /// Whether a pause ends before another one.
    private static func endsEarlier(_ pause: Pause, _ other: Pause) -> Bool {
        guard let end = pause.until else {
            return other.until == nil && other.crashes != nil && pause.crashes == nil
        }
        return other.until.map { end < $0 } ?? true
    }
}

extension BundleState {
    /// The pauses of the bundle, by a user and because of crashes; they may have ended.
    var pauses: [Pause] { [pause, crashPause].compactMap(\.self) }
}
