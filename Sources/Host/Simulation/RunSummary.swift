public import TaskModel

/// What one run came to, or several together, in numbers.
public struct RunSummary: Equatable, Sendable {
    /// The launches of one identifier.
    public struct Identifier: Equatable, Sendable {
        /// Launches that began.
        public var launches = 0
        /// How many ended how.
        public var outcomes: [Outcome: Int] = [:]
        /// How many were asked to stop, by the reason.
        public var expirations: [Reason: Int] = [:]
        /// CPU time of those that ended.
        public var cpu = Duration.zero
        /// How long the requests were kept waiting, by the policy that decided.
        public var waits: Tally.Waits = [:]
        /// Submissions that were refused.
        public var refusals = 0
        /// From the earliest begin date to the launch, sorted.
        fileprivate(set) var waited: [Duration] = []

        /// The wait that this share of the launches did not exceed, 0 through 1; `nil` without a launch.
        public func wait(share: Double) -> Duration? {
            guard !waited.isEmpty else { return nil }
            return waited[min(waited.count - 1, Int(share * Double(waited.count)))]
        }
    }

    /// How many runs are in it.
    public private(set) var runs = 0
    /// By identifier.
    public private(set) var identifiers: [TaskIdentifier: Identifier] = [:]
    /// How often the scheduler got the event `timePassed`: its alarms, and the ends of sleeps.
    public private(set) var wakeUps = 0
    /// How many events the scheduler got.
    public private(set) var events = 0

    /// Makes a summary of some runs.
    public init(_ tallies: some Sequence<Tally> = []) {
        for tally in tallies { add(tally) }
        sort()
    }

    /// Adds a run; ``sort()`` before asking for waits.
    public mutating func add(_ tally: Tally) {
        runs += 1
        wakeUps += tally.wakeUps
        events += tally.events
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

    /// Puts the waits in order.
    public mutating func sort() {
        for identifier in identifiers.keys { identifiers[identifier]?.waited.sort() }
    }

    /// All launches.
    public var launches: Int { identifiers.values.reduce(0) { $0 + $1.launches } }

    /// All CPU time.
    public var cpu: Duration { identifiers.values.reduce(.zero) { $0 + $1.cpu } }

    /// The time that requests waited, by the policy that decided, longest first.
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
        waited.append(launch.waited)
    }
}
