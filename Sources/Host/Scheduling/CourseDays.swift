import TaskModel

/// Which earlier days a possible course of the coming days follows.
///
/// The rest of the present day follows one earlier day. Each later day follows another one: as a whole, the
/// days after a Thursday would give a Monday the habits of a Friday, and what happens each Friday would be
/// expected on each day.
struct CourseDays: Equatable {
    /// How many days ago the day was that the rest of the present day follows, at least 1.
    var first: Int
    /// When the first of the ``later`` days begins.
    var change: WallTime
    /// The same for each later day; the conditions of that earlier day are known to its end.
    var later: [Int]

    /// The local time at which a day begins, after midnight: 4 h, our choice, because most people neither use
    /// nor plug in a device then.
    static let beginning = Duration.seconds(4 * 3600)
}

extension Scheduler {
    /// The earlier days that the courses follow, with the weight of each course, the greatest weight first.
    ///
    /// Each day of the last 28 is the first day of one course. As such, the same weekday has the weight 1,
    /// another working day (or, at weekends, another day of a weekend) 0.5, and every other day 0.1. Each
    /// later day is divided among the courses in proportion to the weights 1, 0.15 and 0.03: the further
    /// ahead a day is, the more often other weekdays would bring what happens on one weekday alone. These
    /// numbers are our choice.
    func courseDays(in history: ConditionHistory, at now: WallTime) -> [(days: CourseDays, weight: Double)] {
        let day = Duration.seconds(86_400)
        let span = Int(ConditionHistory.span / day)
        let today = situation.localDay(now)
        let firsts = weights(of: 1...span, for: today, same: 1, near: 0.5, far: 0.1)
        // The first day ends at the next beginning of a day, in local time.
        let shift = situation.localOffset - CourseDays.beginning
        let begun = (now + shift).wholeSeconds.floorDivided(by: 86_400)
        let change = WallTime(sinceEpoch: .seconds((begun + 1) * 86_400) - shift)
        let oldest = history.entries.first?.at ?? now
        let count = Int64(Forecast.horizon / day) + 1
        let known = firsts.filter { now + (.zero - day * $0.back) >= oldest }
        let total = known.reduce(0) { $0 + $1.weight }
        var later = Array(repeating: [Int](), count: known.count)
        for number in 1...count {
            let begin = change + day * Int(number - 1)
            // The earlier day must be over, and the history must have begun before it.
            let backs = (Int(number)...(span + Int(number))).filter { back in
                begin + (.zero - day * (back - 1)) <= now && begin + (.zero - day * back) >= oldest
            }
            let sources = weights(
                of: backs, for: begun + number, same: 1, near: 0.15, far: 0.03)
            let sum = sources.reduce(0) { $0 + $1.weight }
            var position = 0.0
            for index in known.indices {
                defer { position += known[index].weight / total }
                // The turn by the golden ratio makes the later days of a course independent of each other.
                let middle = position + known[index].weight / total / 2 + 0.618_033_988_75 * Double(number)
                var rest = (middle - middle.rounded(.down)) * sum
                let source = sources.first { source in
                    rest -= source.weight
                    return rest < 0
                }
                later[index].append((source ?? sources.last)?.back ?? (known[index].back + 6) / 7 * 7)
            }
        }
        return known.indices.map { index in
            let days = CourseDays(first: known[index].back, change: change, later: later[index])
            return (days, known[index].weight)
        }
    }

    /// Weighs earlier days for a day, the greatest weight first.
    private func weights(
        of backs: some Sequence<Int>, for day: Int64, same: Double, near: Double, far: Double
    ) -> [(back: Int, weight: Double)] {
        // 1970-01-01 was a Thursday.
        func isWeekend(_ day: Int64) -> Bool { (day + 3).floorRemainder(by: 7) >= 5 }
        return backs.map { back -> (back: Int, weight: Double) in
            if back % 7 == 0 { return (back, same) }
            return (back, isWeekend(day - Int64(back)) == isWeekend(day) ? near : far)
        }.sorted { ($1.weight, $0.back) < ($0.weight, $1.back) }
    }
}
