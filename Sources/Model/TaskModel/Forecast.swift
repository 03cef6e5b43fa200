/// When a request will probably start, according to the conditions now and on earlier days.
///
/// Each recorded day gives one course of events. In it, each condition keeps its present value until the time
/// at which it changed on that day, and then follows that day. The policies decide when the request would
/// start in each course.
public struct Forecast: Equatable, Hashable, Sendable, Codable {
    /// One course of events.
    public struct Course: Equatable, Sendable {
        /// When the request would start; `nil` if not within ``Forecast/horizon``.
        public var start: WallTime?
        /// How much the course counts, more than 0; courses of the same weekday count most.
        public var weight: Double

        /// Creates a course.
        public init(start: WallTime?, weight: Double) {
            self.start = start
            self.weight = weight
        }
    }

    /// How many days of history a forecast needs: 3.
    ///
    /// This number is our choice: with fewer days, the result would be chance.
    public static let leastDays = 3
    /// How far a forecast looks ahead: seven days, so that every weekday occurs once.
    public static let horizon = Duration.seconds(7 * 86_400)
    /// The probability that the request starts between ``early`` and ``late``: 0.8.
    public static let windowShare = 0.8

    /// How many recorded days the forecast uses: at most 28.
    public var days: Int
    /// In how many of the courses the request would start within seven days.
    public var starts: Int
    /// The median of the start times; `nil` if there is too little history, or if the request starts in less
    /// than half of the courses.
    public var usual: WallTime?
    /// The beginning of the window that contains the start with a probability of 80 %; `nil` if there is too
    /// little history, or if the request starts in no course.
    public var early: WallTime?
    /// The end of that window; `nil` like ``early``, and if the request is too likely not to start within
    /// seven days.
    public var late: WallTime?
    /// When the request starts if no condition changes; `nil` if not within seven days.
    public var unchanged: WallTime?
    /// The probability that the request starts within seven days; `nil` if there is too little history.
    public var confidence: Double?

    /// Makes a forecast from the courses of earlier days, in any order.
    public init(courses: [Course], unchanged: WallTime?) {
        days = courses.count
        starts = courses.count { $0.start != nil }
        self.unchanged = unchanged
        guard days >= Self.leastDays, starts > 0 else {
            if days >= Self.leastDays { confidence = 0 }
            return
        }
        let sorted = courses.sorted {
            ($0.start?.sinceEpoch ?? .seconds(Int64.max / 4))
                < ($1.start?.sinceEpoch ?? .seconds(Int64.max / 4))
        }
        let total = courses.reduce(0) { $0 + $1.weight }
        confidence = courses.reduce(0) { $0 + ($1.start == nil ? 0 : $1.weight) } / total
        // A further value is equally likely to fall into each of the n + 1 gaps before, between and after n
        // values. So the quantiles divide n + 1 parts, not n; the added part has the weighted mean weight.
        let part = courses.reduce(0) { $0 + $1.weight * $1.weight } / total
        /// The time before which this share of starts lies; `nil` if there are too few courses, or none in
        /// which the request starts so late.
        func quantile(_ share: Double) -> WallTime? {
            let wanted = share * (total + part)
            var sum = 0.0
            var earlier: (start: WallTime, position: Double)?
            for course in sorted {
                guard let start = course.start else { return nil }
                // Each course stands for the middle of its weight. With its end, the window would begin and
                // end too late.
                let position = sum + (course.weight + part) / 2
                if position >= wanted - 1e-9 {
                    guard let earlier, position > earlier.position else { return start }
                    let share = max(0, min(1, (wanted - earlier.position) / (position - earlier.position)))
                    let gap = (start - earlier.start).wholeMilliseconds
                    return earlier.start + .milliseconds(Int64((Double(gap) * share).rounded()))
                }
                sum += course.weight
                earlier = (start, position)
            }
            return nil
        }
        // The usual time is one at which the request really would have started, not one between two.
        var sum = 0.0
        let middle = sorted.first { course in
            sum += course.weight
            return sum >= 0.5 * (total + part) - 1e-9
        }
        usual = middle?.start
        let tail = (1 - Self.windowShare) / 2
        early = quantile(tail) ?? sorted.first?.start
        late = quantile(1 - tail)
    }
}
