import TaskModel

/// One condition: the newest answer of each source, the value that follows from them, and the reported value.
struct ConditionCell {
    /// The state of one source.
    private struct Source {
        let name: String
        var answer = SensorAnswer.absent
        /// Whether the source was ever present; if it becomes absent afterwards, its value is lost.
        var wasPresent = false
        /// Whether the source's value may replace that of a better source that was lost.
        var mayStandIn = true
    }

    /// A reading and the name of the source that it comes from.
    struct Finding: Equatable {
        var reading: Reading<ConditionValue>
        var source: String
    }

    private let key: ConditionKey
    private var sources: [Source]
    private var real: Finding
    /// An improvement that is not reported yet, because it must last until `due`, a time on CLOCK_BOOTTIME.
    private var candidate: (finding: Finding, due: Duration)?
    private(set) var since: WallTime
    private var flaps = FlapWatch()
    var simulated: Reading<ConditionValue>?

    /// The reported value: the simulated one if there is one.
    var current: Finding {
        simulated.map { Finding(reading: $0, source: "simulated") } ?? real
    }
    /// The source of the reported value, for people.
    ///
    /// If external power is back after it was lost several times, the text also says how long it must still
    /// last before it counts.
    func source(at now: Moment) -> String {
        guard simulated == nil, flaps.isFlapping, let candidate, isReturn(to: candidate.finding.reading)
        else { return current.source }
        let left = max(1, (candidate.due - now.boot).components.seconds)
        return "\(current.source); power came and went several times, so it counts as connected in \(left) s"
    }
    /// When the candidate will have lasted long enough, on CLOCK_BOOTTIME; `nil` without a candidate.
    var due: Duration? { candidate?.due }

    /// Creates a condition; its sources, the best first, have not answered yet.
    init(_ key: ConditionKey, sources: [String], start: Finding, at now: WallTime) {
        self.key = key
        self.sources = sources.map { Source(name: $0) }
        real = start
        since = now
    }

    /// Records the answer of one source.
    ///
    /// An improvement must last for `dwell` before it is reported; a change for the worse is reported
    /// immediately.
    mutating func record(
        _ answer: SensorAnswer, of index: Int, mayStandIn: Bool, dwell: Duration, at now: Moment
    ) {
        sources[index].answer = answer
        sources[index].mayStandIn = mayStandIn
        switch answer {
        case .value, .elsewhere, .failed: sources[index].wasPresent = true
        case .absent, .pending: break
        }
        let found = finding
        if found.reading == real.reading || dwell == .zero || isWorse(found.reading) {
            candidate = nil
            report(found, at: now)
        } else {
            // The first improvement sets the time, so a value that keeps improving is still reported. Power
            // that returns has a time of its own, which a change of the charge neither begins nor ends.
            let isReturn = isReturn(to: found.reading)
            let due = candidate.flatMap { self.isReturn(to: $0.finding.reading) == isReturn ? $0.due : nil }
            candidate = (found, due ?? now.boot + (isReturn ? flaps.dwell(dwell) : dwell))
        }
    }

    /// Reports the candidate if it has lasted long enough.
    mutating func settle(at now: Moment) {
        guard let (finding, due) = candidate, due <= now.boot else { return }
        candidate = nil
        report(finding, at: now)
    }

    private mutating func report(_ new: Finding, at now: Moment) {
        if isReturn(to: new.reading) { flaps.returned(at: now) }
        if real.reading.isOnExternalPower, !new.reading.isOnExternalPower { flaps.lost(at: now) }
        tell(at: now) { $0.real = new }
    }

    /// Whether the value means that external power, which was reported as lost, is back.
    private func isReturn(to new: Reading<ConditionValue>) -> Bool {
        key == .power && !real.reading.isOnExternalPower && new.isOnExternalPower
    }

    mutating func simulate(_ reading: Reading<ConditionValue>?, at now: Moment) {
        tell(at: now) { $0.simulated = reading }
    }

    private mutating func tell(at now: Moment, _ edit: (inout Self) -> Void) {
        let before = current.reading
        edit(&self)
        if current.reading != before { since = now.wall }
    }

    /// The value of the first source that has one; unknown if a source was lost and none can replace it.
    private var finding: Finding {
        var lost: String?
        for source in sources {
            switch source.answer {
            case .value(let value):
                if lost == nil || source.mayStandIn {
                    return Finding(reading: .known(value), source: source.name)
                }
            case .elsewhere: break
            case .absent: if source.wasPresent { lost = lost ?? source.name }
            case .pending, .failed: lost = lost ?? source.name
            }
        }
        if let lost { return Finding(reading: .unknown, source: lost) }
        return Finding(reading: ConditionValue.absent(key), source: "none")
    }

    private func isWorse(_ new: Reading<ConditionValue>) -> Bool {
        // Unknown is worse than any known value.
        guard let value = new.value else { return true }
        return real.reading.value.map { value.isWorse(than: $0) } ?? false
    }
}

extension ConditionValue {
    /// Whether the new value is a change for the worse, which is reported immediately.
    ///
    /// A lower battery charge does not count as one, because it falls all the time.
    func isWorse(than old: ConditionValue) -> Bool {
        switch (self, old) {
        case (.power(let new), .power(let old)): old.externalPower && !new.externalPower
        case (.lowPower(let new), .lowPower(let old)): new && !old
        case (.network(let new), .network(let old)): new.cost > old.cost
        case (.thermal(let new), .thermal(let old)): new.rank > old.rank
        case (.user(let new), .user(let old)): new == .active && old == .idle
        case (.pressure(let new), .pressure(let old)):
            new.cpu && !old.cpu || new.memory && !old.memory || new.io && !old.io
        case (.gpu(let new), .gpu(let old)), (.custom(let new), .custom(let old)): old && !new
        case (.storage(let new), .storage(let old)): new < old
        default: false
        }
    }
}

extension NetworkCondition {
    /// The rank of the network for comparison: from 0 for unmetered to 3 for none.
    fileprivate var cost: Int {
        switch self {
        case .none: 3
        case .constrained: 2
        case .metered: 1
        case .unmetered: 0
        }
    }
}

extension Reading<ConditionValue> {
    /// Whether external power is known to be connected.
    fileprivate var isOnExternalPower: Bool {
        if case .known(.power(let power)) = self { power.externalPower } else { false }
    }
}
