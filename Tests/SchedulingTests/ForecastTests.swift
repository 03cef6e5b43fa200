import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Forecasts of starts, from recorded days.
@Suite struct ForecastTests {
    private static let day = Duration.seconds(86_400)
    private static let now = VirtualMoments().now()

    /// A history of days on battery; a day begins at the present time of day. For each day, `plug` gives the
    /// hour at which external power is connected for three hours; `nil` for a day without external power.
    private static func history(days: Int, plug: (Int) -> Double?) -> ConditionHistory {
        var history = ConditionHistory()
        var battery = Conditions.simulatedStart
        battery.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))
        for back in (1...days).reversed() {
            let start = now.wall + (.zero - day * back)
            history.note(battery, at: start)
            guard let hours = plug(back) else { continue }
            let plugged = start + .milliseconds(Int64(hours * 3_600_000))
            history.note(.simulatedStart, at: plugged)
            history.note(battery, at: plugged + .seconds(3 * 3600))
        }
        return history
    }

    private static func waiting(_ name: String = "powered") -> (Scheduler, TaskRequest) {
        var scheduler = Scheduler()
        var battery = Conditions.simulatedStart
        battery.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))
        let submission = TaskSubmission(identifier: .sample("com.example.a.\(name)"), origin: .client)
        let request = TaskRequest(
            id: RequestID(rawValue: 1), submission: submission, bundle: .sample, kind: .processing,
            submittedAt: now.wall, attempt: 1, notBefore: nil, deadline: now.wall + day * 7)
        for event in [
            .handlersChanged([.sample]), .conditionsChanged(battery), .submitted(request), .started,
        ] as [SchedulerEvent] {
            _ = scheduler.handle(event, at: now)
        }
        return (scheduler, request)
    }

    @Test func `a discretionary transfer is expected when the charger usually comes`() {
        let (scheduler, _) = Self.waiting()
        let history = Self.history(days: 24) { _ in 6 }
        var transfer = TransferRequest(bundle: .sample, direction: .download, url: "http://a/x")
        let urgent = scheduler.forecast(transfer, notBefore: nil, from: history, at: Self.now)
        #expect(urgent.unchanged == Self.now.wall)
        transfer.isDiscretionary = true
        let forecast = scheduler.forecast(transfer, notBefore: nil, from: history, at: Self.now)
        #expect(forecast.days == 24 && forecast.starts == 24 && forecast.unchanged == nil)
        #expect(forecast.usual == Self.now.wall + .seconds(6 * 3600))
        // The end of its wait between two attempts comes after the charger, which stays for three hours.
        let later = Self.now.wall + .seconds(7 * 3600)
        let delayed = scheduler.forecast(transfer, notBefore: later, from: history, at: Self.now)
        #expect(delayed.usual == later)
    }

    @Test func `what waits for the charger is expected when the charger usually comes`() {
        let (scheduler, request) = Self.waiting()
        let history = Self.history(days: 24) { $0 % 5 == 0 ? nil : 6 + Double($0 % 3) / 2 }
        let forecast = scheduler.forecast(request, from: history, at: Self.now)
        #expect(forecast.days == 24)
        // After each of the four days without the charger, the charger is connected on the next day.
        #expect(forecast.starts == 24 && forecast.confidence == 1)
        #expect(forecast.early == Self.now.wall + .seconds(6 * 3600))
        #expect(forecast.usual == Self.now.wall + .seconds(23_400))
        #expect(forecast.late.map { $0 > Self.now.wall + .seconds(86_400) } == true)
        #expect(forecast.unchanged == nil)
    }

    /// External power comes on one weekday only; `ahead` is how many days after today that weekday is.
    ///
    /// The days of other weekdays must not bring it earlier or later.
    @Test(arguments: 1...6)
    func `what happens on one weekday is expected on that weekday`(ahead: Int) {
        for weeks in 2...4 {
            let (scheduler, request) = Self.waiting()
            let history = Self.history(days: weeks * 7) { ($0 + ahead) % 7 == 0 ? 2 : nil }
            let forecast = scheduler.forecast(request, from: history, at: Self.now)
            let expected = Self.now.wall + Self.day * ahead + .seconds(2 * 3600)
            let usual = forecast.usual.map { ($0 - Self.now.wall).inSeconds / 86_400 } ?? -1
            #expect(forecast.usual == expected, "\(weeks) weeks: \(usual) days")
        }
    }

    @Test func `a course takes over every condition that changes`() {
        let old = Conditions(
            power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
            pressure: .unknown, gpu: .unknown)
        var new = Conditions.simulatedStart
        new.gpu = .known(true)
        new.storage = .known(.gibibytes(3))
        new.interfaces = [.wifi]
        new.custom = ["docked": .known(true)]
        // A condition that is added later must be in this test.
        for (before, after) in zip(Mirror(reflecting: old).children, Mirror(reflecting: new).children) {
            #expect("\(before.value)" != "\(after.value)", "\(before.label ?? "")")
        }
        var course = old
        course.take(changesFrom: old, to: new)
        #expect(course == new)
    }

    @Test func `what is true now holds until the history's next change of it`() throws {
        let (scheduler, request) = Self.waiting()
        // On each day, the charger was connected at this time, until an hour later, and again after 20 hours.
        var history = ConditionHistory()
        var battery = Conditions.simulatedStart
        battery.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))
        var low = battery
        low.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 70))
        for back in (1...20).reversed() {
            let start = Self.now.wall + (.zero - Self.day * back)
            history.note(.simulatedStart, at: start + .seconds(-3600))
            history.note(battery, at: start + .seconds(3600))
            history.note(low, at: start + .seconds(7200))
            history.note(.simulatedStart, at: start + .seconds(72_000))
        }
        let forecast = scheduler.forecast(request, from: history, at: Self.now)
        let charger = Self.now.wall + .seconds(72_000)
        #expect(forecast.usual == charger && forecast.early == charger && forecast.late == charger)
    }

    @Test func `the same weekday counts most, and seven days are looked at`() {
        let (scheduler, request) = Self.waiting()
        // The charger is connected only on one day of each week, three days after this one.
        let weekly = Self.history(days: 28) { ($0 - 4) % 7 == 0 ? 5 : nil }
        let forecast = scheduler.forecast(request, from: weekly, at: Self.now)
        #expect(forecast.usual == Self.now.wall + .seconds(3 * 86_400 + 5 * 3600))
        // On this weekday the charger is connected after one hour, on all others after nine.
        let mixed = Self.history(days: 28) { $0 % 7 == 0 ? 1 : 9 }
        let early = scheduler.forecast(request, from: mixed, at: Self.now).early
        #expect(early == Self.now.wall + .seconds(3600))
    }

    @Test func `without enough history, it says what happens if nothing changes`() {
        var (scheduler, request) = Self.waiting("p1")
        request.submission.earliestBeginDate = Self.now.wall + .seconds(3600)
        _ = scheduler.handle(.submitted(request), at: Self.now)
        let none = scheduler.forecast(request, from: ConditionHistory(), at: Self.now)
        #expect(none.days == 0 && none.usual == nil && none.confidence == nil)
        // Nothing else happens, so the host wakes for the request 15 min after its begin date.
        #expect(none.unchanged == Self.now.wall + .seconds(3600 + 900))
    }

    @Test func `two days are too little, and a month without the charger is no start`() {
        let (scheduler, request) = Self.waiting()
        let short = scheduler.forecast(request, from: Self.history(days: 2) { _ in 1 }, at: Self.now)
        #expect(short.days == 2 && short.usual == nil && short.confidence == nil)
        let never = scheduler.forecast(request, from: Self.history(days: 40) { _ in nil }, at: Self.now)
        #expect(never.days == 28 && never.starts == 0 && never.confidence == 0 && never.usual == nil)
        #expect(never.unchanged == nil && never.early == nil)
    }

    @Test func `a begin date holds, and a machine that sleeps starts nothing`() {
        var (scheduler, request) = Self.waiting("p1")
        request.submission.earliestBeginDate = Self.now.wall + .seconds(3600)
        _ = scheduler.handle(.submitted(request), at: Self.now)
        var history = ConditionHistory()
        for back in (1...5).reversed() {
            let start = Self.now.wall + (.zero - Self.day * back)
            history.note(.simulatedStart, at: start)
            history.note(nil, at: start + .seconds(1800))
            history.note(.simulatedStart, at: start + .seconds(back == 5 ? 600 + 1800 : 9000))
        }
        let forecast = scheduler.forecast(request, from: history, at: Self.now)
        #expect(forecast.days == 5 && forecast.starts == 5)
        // On the fifth day back the machine woke before the begin date, on the other days after it.
        #expect(forecast.usual == Self.now.wall + .seconds(9000))
    }

    @Test func `old entries go, those in force stay`() {
        var history = ConditionHistory()
        for hour in 0..<3000 {
            var conditions = Conditions.simulatedStart
            conditions.gpu = .known(hour % 2 == 0)
            history.note(conditions, at: Self.now.wall + .seconds(hour * 3600))
        }
        let last = Self.now.wall + .seconds(2999 * 3600)
        #expect(history.entries.count < 2 * 28 * 24 + 3)
        #expect(!history.changes(from: last + (.zero - ConditionHistory.span), to: last).isEmpty)
        // If the clock is set back, later entries are removed.
        history.note(nil, at: Self.now.wall + .seconds(2990 * 3600))
        #expect(history.entries.last?.conditions == nil)
        #expect(history.entries.dropLast().allSatisfy { $0.at < Self.now.wall + .seconds(2990 * 3600) })
    }
}
