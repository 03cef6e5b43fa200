public import TaskModel

extension Scheduler {
    /// Every policy's verdict about starting a pending request now: exactly what ``handle(_:at:)`` obeys.
    ///
    /// - Returns: The verdicts in a fixed order; `nil` if nothing by that number is pending.
    public func explain(_ id: RequestID, at now: Moment) -> [Verdict]? {
        pending[id].map { judge($0, isSimulated: pending.isSimulated(id), at: now).verdicts }
    }

    /// Every policy's verdict about starting this request now, whether it is stored or not.
    public func explain(_ request: TaskRequest, at now: Moment) -> [Verdict] {
        judge(request, isSimulated: false, at: now).verdicts
    }

    /// The pending request of an identifier.
    public func pendingRequest(of identifier: TaskIdentifier) -> TaskRequest? {
        pending.request(of: identifier)
    }

    struct Judgement {
        var verdicts: [Verdict]
        /// The veto that says where the request waits; `nil` if it may start.
        var wait: (fact: Fact, verdict: Verdict)?
    }

    func judge(_ request: TaskRequest, isSimulated: Bool, at now: Moment) -> Judgement {
        var judgement = Judgement(verdicts: [], wait: nil)
        judgement.verdicts.reserveCapacity(Self.policies.count)
        for policy in Self.policies where !isSimulated || policy.bindsSimulatedLaunches {
            let verdict = policy.verdict(for: request, in: situation, at: now)
            judgement.verdicts.append(verdict)
            guard verdict.isVeto else { continue }
            let fact = policy.awaits(request)
            if let wait = judgement.wait, wait.fact.rank <= fact.rank { continue }
            judgement.wait = (fact, verdict)
        }
        return judgement
    }

    /// Starts what may start, lane by lane, what is due first before the rest.
    mutating func startCandidates(at now: Moment, _ actions: inout [SchedulerAction]) {
        guard !isShuttingDown else { return }
        for lane in Lane.allCases {
            var passedOver: [RequestID] = []
            while situation.occupancy.hasSlot(in: lane, settings), let id = pending.popCandidate(lane) {
                if !place(id, at: now, &actions) { passedOver.append(id) }
            }
            // Whether other bundles wait is certain only now that every candidate was looked at.
            for id in passedOver where situation.occupancy.hasSlot(in: lane, settings) {
                _ = place(id, at: now, &actions)
            }
            for id in passedOver where pending[id] != nil { pending.makeCandidate(id, &situation.occupancy) }
        }
    }

    /// Starts a candidate or sends it where it waits; false if it waits for a slot.
    private mutating func place(_ id: RequestID, at now: Moment, _ actions: inout [SchedulerAction]) -> Bool {
        guard let request = pending[id] else { return true }
        let isSimulated = pending.isSimulated(id)
        let judgement = judge(request, isSimulated: isSimulated, at: now)
        guard let (fact, verdict) = judgement.wait else {
            start(request, isSimulated: isSimulated, because: judgement.verdicts, at: now, &actions)
            return true
        }
        switch fact {
        case .slot: return false
        case .time:
            let date = verdict.rationale.compactMap(\.earliestChange).max()
            pending.wait(id, until: date ?? now.wall + .seconds(1), &situation.occupancy)
        case .handlers, .launch, .externalPower, .network, .gpu:
            pending.wait(id, for: fact, &situation.occupancy)
        }
        return true
    }

    private mutating func start(
        _ request: TaskRequest, isSimulated: Bool, because verdicts: [Verdict], at now: Moment,
        _ actions: inout [SchedulerAction]
    ) {
        pending.remove(request.id, &situation.occupancy)
        situation.occupancy.begin(request)
        launches[request.id] = ActiveLaunch(
            request, situation.permits.declaration(for: request.identifier, of: request.bundle),
            situation.needs(of: request), isSimulated: isSimulated)
        schedules.began(request.identifier, at: now.wall)
        actions.append(.launch(request.id, isSimulated: isSimulated, because: verdicts))
    }
}
