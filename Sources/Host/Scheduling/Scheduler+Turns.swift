import TaskModel

/// Turns: how long a launch keeps its slot, or holds conflicting tasks, while another request waits for it.
///
/// A lease that is renewed for hours, or that a manifest makes long, must not keep others waiting for as
/// long. So a launch has its slot to itself for one *turn*: the standard lease of its kind, doubled for each
/// earlier attempt that brought nothing, and no longer than its own lease. After that, it is stopped as soon
/// as another request waits for nothing but the slot or, as a conflicting task, for its end. Its request
/// comes after that one.
///
/// The doubling lets a task that saves no checkpoints get through: each attempt begins from nothing, and with
/// turns of equal length, none would ever be long enough.
extension Scheduler {
    /// Stops launches whose turns are over, as many as there are requests that wait only for their slots.
    mutating func endTurns(at now: Moment, _ actions: inout [SchedulerAction]) {
        if endedTurns.isEmpty || isShuttingDown || isPassCut { return }
        for lane in Lane.allCases where lane.hasTurns && !situation.hasSlot(in: lane) {
            endTurns(in: lane, at: now, &actions)
        }
        endTurnsOfConflicts(at: now, &actions)
    }

    /// Notes whether the turn of a launch is over.
    mutating func noteTurn(of launch: ActiveLaunch, at now: Moment) {
        if launch.hasHadTurn(at: now) {
            endedTurns.insert(launch.request.id)
        } else {
            endedTurns.remove(launch.request.id)
        }
    }

    private mutating func endTurns(in lane: Lane, at now: Moment, _ actions: inout [SchedulerAction]) {
        let late = stoppable(for: lane, at: now)
        var ending = launches.values.filter(\.isStopping).map(\.request.lane)
        let most = situation.freeSlots(in: lane, without: ending + late.map(\.request.lane))
        guard most > 0, situation.freeSlots(in: lane, without: ending) < most else { return }
        let waiting = requestsForSlot(in: lane, atMost: most, at: now)
        if waiting.isEmpty { return }
        for launch in late {
            let free = situation.freeSlots(in: lane, without: ending)
            guard free < waiting.count, let id = launch.id else { return }
            let after = ending + [launch.request.lane]
            guard situation.freeSlots(in: lane, without: after) > free else { continue }
            ending = after
            let other = waiting[max(0, free)].identifier
            endTurn(of: launch, id, for: other, waitingFor: "the slot", at: now, &actions)
        }
    }

    /// The launches whose turns are over, in the order in which they end for a slot of a lane.
    private func stoppable(for lane: Lane, at now: Moment) -> [ActiveLaunch] {
        inOrder(endedTurns.compactMap { launches[$0] }.filter { $0.hasHadTurn(at: now) }, for: lane)
    }

    /// Launches in the order in which their turns end for a slot of a lane.
    private func inOrder(_ launches: [ActiveLaunch], for lane: Lane) -> [ActiveLaunch] {
        // Launches of the other fair lane can occupy the slot, too, when the machine is warm.
        launches.sorted {
            ($0.request.lane == lane ? 0 : 1, $0.turnEnd ?? .zero, $0.request.id)
                < ($1.request.lane == lane ? 0 : 1, $1.turnEnd ?? .zero, $1.request.id)
        }
    }

    /// Stops the launches for whose end alone conflicting requests wait, if the turns of all are over.
    ///
    /// If such a request would have no slot then, launches in its slots end, too, if their turns are over.
    /// Otherwise, each of the two would wait until nothing but the other one holds the request.
    private mutating func endTurnsOfConflicts(at now: Moment, _ actions: inout [SchedulerAction]) {
        for claim in situation.claims {
            let holders = situation.occupancy.all(
                of: situation.permits.conflicts(with: claim.identifier), but: claim.identifier)
            let running = holders.compactMap { situation.occupancy.requests[$0].flatMap { launches[$0] } }
            guard !running.isEmpty, running.allSatisfy({ $0.isStopping || $0.hasHadTurn(at: now) }),
                let beside = launchesToEnd(beside: running, for: claim.lane, at: now)
            else { continue }
            for launch in beside {
                guard let id = launch.id else { continue }
                endTurn(of: launch, id, for: claim.identifier, waitingFor: "the slot", at: now, &actions)
            }
            for launch in running.sorted(by: { $0.request.id < $1.request.id }) where !launch.isStopping {
                guard let id = launch.id else { continue }
                endTurn(of: launch, id, for: claim.identifier, waitingFor: "its end", at: now, &actions)
            }
        }
    }

    /// The launches that must end beside conflicting ones, so that a lane has a slot.
    ///
    /// - Returns: The launches, none if the lane has a slot without the conflicting ones; `nil` if the
    ///   launches whose turns are over occupy too few slots.
    private func launchesToEnd(
        beside conflicting: [ActiveLaunch], for lane: Lane, at now: Moment
    ) -> [ActiveLaunch]? {
        launchesToEnd(beside: conflicting, of: stoppable(for: lane, at: now), for: lane)
    }

    /// The launches that will end together for a request, if nothing but launches holds it.
    ///
    /// - Parameters:
    ///   - request: The pending request.
    ///   - isSimulated: Whether the request came from `bgtask launch`.
    /// - Returns: The conflicting launches, and those with a turn in whose slots the request would start;
    ///   none if no launch conflicts with it; `nil` if one of them has no turn, or if there would be no slot.
    func launchesEndingTogether(for request: TaskRequest, isSimulated: Bool) -> [ActiveLaunch]? {
        let conflicting = situation.occupancy.all(
            of: situation.needs(of: request).conflicts, but: request.identifier
        ).compactMap { situation.occupancy.requests[$0].flatMap { launches[$0] } }
        if conflicting.isEmpty { return [] }
        guard conflicting.allSatisfy({ $0.isStopping || $0.willHaveHadTurn }) else { return nil }
        let lane = isSimulated ? Lane.simulated : request.lane
        let withTurns = launches.values.filter(\.willHaveHadTurn)
        return launchesToEnd(beside: conflicting, of: inOrder(withTurns, for: lane), for: lane)
            .map { conflicting + $0 }
    }

    private func launchesToEnd(
        beside conflicting: [ActiveLaunch], of stoppable: [ActiveLaunch], for lane: Lane
    ) -> [ActiveLaunch]? {
        var ending = launches.values.filter(\.isStopping).map(\.request.lane)
        ending += conflicting.filter { !$0.isStopping }.map(\.request.lane)
        var found: [ActiveLaunch] = []
        for launch in stoppable {
            let free = situation.freeSlots(in: lane, without: ending)
            if free > 0 { break }
            let after = ending + [launch.request.lane]
            guard !conflicting.contains(where: { $0.request.id == launch.request.id }),
                situation.freeSlots(in: lane, without: after) > free
            else { continue }
            ending = after
            found.append(launch)
        }
        return situation.freeSlots(in: lane, without: ending) > 0 ? found : nil
    }

    private mutating func endTurn(
        of launch: ActiveLaunch, _ id: LaunchID, for other: TaskIdentifier, waitingFor object: String,
        at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        launches[launch.request.id]?.isEndedForOthers = true
        let verdict = launch.endOfTurn(for: other, waitingFor: object, at: now)
        expire(id, .leaseEnded, verdict, at: now, &actions)
    }

    /// The first requests of a lane that wait for nothing but a slot, in the order of
    /// ``nextCandidate(_:)``.
    ///
    /// While a lane is full, its candidates are not judged. Those that something else holds are found here,
    /// and wait for that from now on.
    private mutating func requestsForSlot(
        in lane: Lane, atMost limit: Int, at now: Moment
    ) -> [TaskRequest] {
        var found: [TaskRequest] = []
        var looks = Self.looksPerPass
        while found.count < limit, looks > 0, let id = nextCandidate(lane) {
            looks -= 1
            guard let (request, needs, isSimulated) = pending.look(id) else { continue }
            let subject = situation.subject(request, needs, isTelling: false)
            prepareProspects(of: subject, at: now)
            let judgement = judge(subject, isSimulated: isSimulated, at: now)
            if judgement.wait?.fact == .slot, judgement.scoreSuffices {
                found.append(request)
            } else if !hold(subject, judgement, at: now) {
                break
            }
        }
        for request in found { pending.makeCandidate(request.id) }
        return found
    }
}

extension Situation {
    /// How many slots of a lane would be free if launches of these lanes were gone; it can be negative.
    fileprivate func freeSlots(in lane: Lane, without ended: [Lane]) -> Int {
        // Launches by `bgtask launch` have a lane without a limit, whose launches are not counted.
        let own = slots(of: lane) - max(0, occupancy.slots(of: lane).count - ended.count { $0 == lane })
        guard lane.isFair else { return own }
        return min(own, deferrableSlots - (occupancy.discretionary - ended.count(where: \.isFair)))
    }
}
