public import TaskModel

/// The numbers of one run, or of several runs together.
public struct RunSummary: Equatable, Sendable {
    /// The numbers of one identifier.
    public struct Identifier: Equatable, Sendable {
        /// The number of launches that began.
        public var launches = 0
        /// The number of launches with each outcome.
        public var outcomes: [Outcome: Int] = [:]
        /// The number of launches that were asked to stop, by reason.
        public var expirations: [Reason: Int] = [:]
        /// The CPU time of launches that have ended.
        public var cpu = Duration.zero
        /// How long requests waited, by the policy that kept them waiting.
        public var waits: Tally.Waits = [:]
        /// The number of launches that began after their windows.
        public var late = 0
        /// The number of refused submissions.
        public var refusals = 0
        /// How long the request of each launch had waited; in order after ``RunSummary/sort()``.
        fileprivate(set) var waited: [Duration] = []

        /// The quantile of the waits: `share` of the launches (0 to 1) waited no longer; `nil` without
        /// launches.
        public func wait(share: Double) -> Duration? {
            guard !waited.isEmpty else { return nil }
            return waited[min(waited.count - 1, Int(share * Double(waited.count)))]
        }
    }

    /// The number of runs.
    public private(set) var runs = 0
    /// The numbers of each identifier.
    public private(set) var identifiers: [TaskIdentifier: Identifier] = [:]
    /// The number of `timePassed` events that the scheduler got: from its alarms, and after sleeps.
    public private(set) var alarms = 0
    /// The number of these events while no launch was under way, so that the machine was awake for them
    /// alone.
    public private(set) var wakeUps = 0
    /// The fewest of these wake-ups with which all launches could have begun in their windows, beside the
    /// other events of the same run.
    public private(set) var leastWakeUps = 0
    /// The number of wake-ups of an idle host that came for a better moment than the end of a window.
    public private(set) var chosenWakeUps = 0
    /// The number of events that the scheduler got.
    public private(set) var events = 0
    /// The number of uses of bundles that refresh, after the first seven days.
    public private(set) var uses = 0
    /// The number of these uses before which a refresh ended, at most ``freshness`` earlier.
    public private(set) var freshUses = 0
    /// The number of refreshes that could choose their moment and had a use within reach; see
    /// ``Tally/refreshesBeforeUse(within:)``.
    public private(set) var choosingRefreshes = 0
    /// The number of these refreshes that ended at most ``freshness`` before a use.
    public private(set) var refreshesBeforeUse = 0
    /// How long a refresh counts as fresh: 30 min.
    public static let freshness = Duration.seconds(1800)

    /// Creates a summary of runs.
    public init(_ tallies: some Sequence<Tally> = []) {
        for tally in tallies { add(tally) }
        sort()
    }

    /// Adds a run; call ``sort()`` before you read quantiles of waits.
    public mutating func add(_ tally: Tally) {
        runs += 1
        alarms += tally.alarms
        wakeUps += tally.wakeUps
        leastWakeUps += tally.leastWakeUps
        chosenWakeUps += tally.chosenWakeUps
        events += tally.events
        let fresh = tally.freshUses(within: Self.freshness)
        (uses, freshUses) = (uses + fresh.of, freshUses + fresh.fresh)
        let before = tally.refreshesBeforeUse(within: Self.freshness)
        choosingRefreshes += before.of
        refreshesBeforeUse += before.landed
        for launch in tally.launches {
            identifiers[launch.identifier, default: Identifier()].add(launch)
        }
        for (identifier, waits) in tally.waits {
            for (factor, time) in waits {
                identifiers[identifier, default: Identifier()].waits[factor, default: .zero] += time
            }
        }
        for (identifier, count) in tally.refusals {
            identifiers[identifier, default: Identifier()].refusals += count
        }
    }

    /// Sorts the waits of all identifiers.
    public mutating func sort() {
        for identifier in identifiers.keys { identifiers[identifier]?.waited.sort() }
    }

    /// The number of all launches.
    public var launches: Int { identifiers.values.reduce(0) { $0 + $1.launches } }

    /// The CPU time of all launches that have ended.
    public var cpu: Duration { identifiers.values.reduce(.zero) { $0 + $1.cpu } }

    /// How long requests of all identifiers waited, by policy, longest first.
    public var waits: [(factor: String, time: Duration)] {
        let sums = identifiers.values.reduce(into: Tally.Waits()) { sums, identifier in
            sums.merge(identifier.waits, uniquingKeysWith: +)
        }
        return sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }
}

extension RunSummary.Identifier {
    fileprivate mutating func add(_ launch: Tally.Launch) {
        launches += 1
        if let outcome = launch.outcome { outcomes[outcome, default: 0] += 1 }
        if let reason = launch.expiration { expirations[reason, default: 0] += 1 }
        cpu += launch.cpu
        if launch.isLate { late += 1 }
        waited.append(launch.waited)
    }
}
