public import TaskModel

/// The conditions that the history expects in the next hours, for each quarter of an hour.
///
/// The host makes an outlook from its ``ConditionHistory`` and sends it as an event
/// (``SchedulerEvent/outlookChanged(_:)``). So a replay has the same outlook without the history.
public struct ConditionOutlook: Equatable, Sendable, Codable {
    /// The length of a slot: 15 min.
    public static let slot = Duration.seconds(900)
    /// How far a new outlook reaches: 36 h, so that it reaches 24 h when it is replaced.
    public static let reach = Duration.seconds(36 * 3600)
    /// The age at which the host replaces an outlook: 12 h.
    public static let renewal = Duration.seconds(12 * 3600)
    /// What ``slots`` contains for a machine that sleeps, or on which no host runs.
    static let asleep = -1

    /// The beginning of the first slot.
    public private(set) var start: WallTime
    /// The different states of the conditions to which ``slots`` refers; only conditions that affect scores
    /// are in them.
    public private(set) var states: [Conditions] = []
    /// For each slot the numbers of states in ``states``, each followed by its weight.
    public private(set) var slots: [[Int]] = []

    /// The end of the last slot.
    var end: WallTime { start + Self.slot * slots.count }

    /// Makes an outlook from the same times of earlier days.
    ///
    /// The same weekday counts 10, another working day (or, at weekends, another day of a weekend) 5, and
    /// every other day 1, as in a forecast. The result is `nil` if the history has less than
    /// ``Forecast/leastDays`` days.
    ///
    /// - Parameters:
    ///   - history: The history of conditions.
    ///   - now: The present time.
    ///   - offset: Local time minus UTC, which determines the weekday.
    public init?(_ history: ConditionHistory, at now: WallTime, localTimeOffset offset: Duration) {
        let day = Duration.seconds(86_400)
        let seconds = now.wholeSeconds.floorDivided(by: 900) * 900
        start = WallTime(sinceEpoch: .seconds(seconds))
        guard let first = history.entries.first?.at, now - first >= day * Forecast.leastDays else {
            return nil
        }
        let days = (1...Int(ConditionHistory.span / day)).filter { now + (.zero - day * $0) > first }
        /// The numbers of the states of entries; many slots have the same entry.
        var numbers: [Int: Int] = [:]
        for index in 0..<Int(Self.reach / Self.slot) {
            // The middle of the slot stands for all of it.
            let time = start + Self.slot * index + Self.slot / 2
            let weekday = (time + offset).wholeSeconds.floorDivided(by: 86_400)
            var weights: [Int: Int] = [:]
            // The second day of the outlook has the same earlier days as the first.
            for back in days where time + (.zero - day * back) < now {
                guard let entry = history.indexOfEntry(at: time + (.zero - day * back)) else { continue }
                let number = numbers[entry] ?? note(history.entries[entry].conditions)
                numbers[entry] = number
                weights[number, default: 0] += Self.weight(weekday - Int64(back), for: weekday)
            }
            slots.append(weights.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
        }
    }

    /// Decodes an outlook.
    ///
    /// - Throws: `DecodingError` if a slot refers to a state that does not exist, or has no valid weights,
    ///   because a recording can come from anywhere.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        start = try values.decode(WallTime.self, forKey: .start)
        states = try values.decode([Conditions].self, forKey: .states)
        slots = try values.decode([[Int]].self, forKey: .slots)
        let numbers = Self.asleep..<states.count
        let isValid = slots.allSatisfy { slot in
            slot.count.isMultiple(of: 2)
                && slot.indices.allSatisfy {
                    $0.isMultiple(of: 2) ? numbers.contains(slot[$0]) : (1...1_000_000).contains(slot[$0])
                }
        }
        guard isValid else {
            throw DecodingError.dataCorruptedError(
                forKey: .slots, in: values,
                debugDescription: "a slot of the outlook has a number of no state, or no valid weight")
        }
    }

    /// Returns the number of conditions in ``states``, which may be new.
    private mutating func note(_ conditions: Conditions?) -> Int {
        guard let conditions = conditions?.scored else { return Self.asleep }
        if let known = states.firstIndex(of: conditions) { return known }
        states.append(conditions)
        return states.count - 1
    }

    /// How much a day counts for another day.
    private static func weight(_ past: Int64, for day: Int64) -> Int {
        // 1970-01-01 was a Thursday.
        func isWeekend(_ day: Int64) -> Bool { (day + 3).floorRemainder(by: 7) >= 5 }
        if (day - past) % 7 == 0 { return 10 }
        return isWeekend(day) == isWeekend(past) ? 5 : 1
    }

    /// The number of the slot that contains a time; `nil` if there is none.
    func index(of time: WallTime) -> Int? {
        guard time >= start, time < end else { return nil }
        return Int((time - start) / Self.slot)
    }
}

/// What the outlook says about requests with the same needs: for each slot, which scores the machine will
/// give them.
struct MachineProspects: Sendable {
    /// One part of the weight of a slot: states in which the policies give the same sum of weights.
    private struct Part {
        /// The sum of the weights of the policies that have a score.
        var policies: Double
        /// The share of the earlier days, 0 through 1.
        var share: Double
        /// The sum of the weighted scores, times the share.
        var sum: Double
    }

    private let slots: [[Part]]

    /// Asks the policies about the machine in each state of an outlook.
    init(_ outlook: ConditionOutlook, for subject: Subject, in situation: Situation, at now: Moment) {
        var empty = situation
        empty.occupancy = Occupancy()
        let expression = subject.needs.constraints?.when
        let worlds = outlook.states.map { state in
            var (there, state) = (empty, state)
            // An outlook does not have these; they count as they are now.
            state.gpu = situation.conditions.gpu
            state.storage = situation.conditions.storage
            state.custom = situation.conditions.custom
            _ = there.replaceConditions(state, at: now)
            there.restorePressure(since: now.wall)
            return there
        }
        let answers = worlds.map { there -> (sum: Double, weight: Double)? in
            var (sum, weight) = (0.0, 0.0)
            for policy in Self.policies {
                let answer = policy.answer(for: subject, in: there, at: now)
                if answer.isVeto { return nil }
                guard let score = answer.score else { continue }
                sum += score * policy.weight(situation.settings.weights)
                weight += policy.weight(situation.settings.weights)
            }
            return (sum, weight)
        }
        slots = outlook.slots.enumerated().map { number, slot in
            let time = outlook.start + ConditionOutlook.slot * number
            var parts: [Part] = []
            let total = Double(stride(from: 1, to: slot.count, by: 2).reduce(0) { $0 + slot[$1] })
            for index in stride(from: 0, to: slot.count, by: 2) {
                guard slot[index] >= 0, let answer = answers[slot[index]],
                    expression?.isExpected(in: worlds[slot[index]], at: time) ?? true
                else { continue }
                let share = Double(slot[index + 1]) / total
                if let same = parts.firstIndex(where: { $0.policies == answer.weight }) {
                    parts[same].share += share
                    parts[same].sum += share * answer.sum
                } else {
                    parts.append(Part(policies: answer.weight, share: share, sum: share * answer.sum))
                }
            }
            return parts
        }
    }

    /// The policies about the conditions that an outlook has.
    ///
    /// While nothing runs, their answers depend only on these, the request and the settings.
    private static let policies: [any Policy] = [
        ExternalPower(), Network(), BatteryLevel(), LowPowerMode(), Pressure(), Thermal(), DeviceActivity(),
    ]

    /// The expected score in a slot, 0 through 1; a state in which the request could not start counts 0.
    ///
    /// - Parameters:
    ///   - index: The number of the slot.
    ///   - sum: The weighted scores of the policies that do not depend on the machine.
    ///   - weight: Their weights.
    /// - Returns: The mean of the scores in the states of the slot.
    func score(inSlot index: Int, addingScore sum: Double, weight: Double) -> Double {
        slots[index].reduce(0) { $0 + ($1.sum + $1.share * sum) / max(1e-9, $1.policies + weight) }
    }
}

extension WhenExpression {
    /// Whether the expression is true in a state of an outlook, which lacks whether the battery is charged.
    fileprivate func isExpected(in situation: Situation, at time: WallTime) -> Bool {
        value { fact in
            let isCharge = if case .machine(.charging) = fact { true } else { false }
            return situation.value(of: isCharge ? .machine(.externalPower) : fact, at: time)
        } == true
    }
}
