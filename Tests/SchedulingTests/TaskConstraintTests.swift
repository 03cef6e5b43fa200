import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

extension Manifest {
    /// Gives one of the sample tasks further constraints.
    mutating func constrain(_ name: String, _ constraints: TaskConstraints) {
        for index in tasks.indices where tasks[index].pattern.base.rawValue.hasSuffix(".\(name)") {
            tasks[index].constraints = constraints
        }
    }
}

/// The constraints `storage`, `battery`, `between` and `when` of manifests.
@Suite struct TaskConstraintTests {
    static func rig(
        _ constraints: TaskConstraints, of name: String = "p1", payload: [String: PayloadType] = [:]
    ) -> SchedulerRig {
        SchedulerRig([
            .make("com.example.a") {
                $0.constrain(name, constraints)
                for index in $0.tasks.indices { $0.tasks[index].payload = payload }
            }
        ])
    }

    static func verdict(_ name: String, _ policy: String, _ rig: SchedulerRig) throws -> Verdict {
        let request = try #require(rig.scheduler.pendingRequest(of: .sample(name)))
        let explanation = try #require(rig.scheduler.explain(request.id, at: rig.now))
        return try #require(explanation.verdicts.first { $0.policy == policy })
    }

    // MARK: storage

    @Test func `a task waits for free space, and continues when there is less again`() throws {
        let rig = Self.rig(TaskConstraints(storage: .gibibytes(2)))
        rig.change { $0.storage = .known(.gibibytes(1)) }
        rig.submit("p1")
        #expect(rig.vetoes("p1") == ["Storage"])
        #expect(rig.wake == Wake(), "no clock wakes the host for it")
        let rationale = try #require(try Self.verdict("p1", "Storage", rig).rationale.first)
        #expect(rationale.sentence == "The free space is 1 GiB; it must be 2 GiB or more")
        #expect(rationale.remedy?.contains("bgtask launch com.example.a.p1") == true)
        rig.change { $0.storage = .unknown }
        #expect(rig.vetoes("p1") == ["Storage"])
        rig.submit("p2")
        #expect(rig.launched() == ["com.example.a.p2"], "another task needs none")
        rig.change { $0.storage = .known(.gibibytes(2)) }
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.begin(RequestID(rawValue: 1))
        rig.change { $0.storage = .known(.mebibytes(3)) }
        #expect(rig.take() == [], "it may itself use the space that it asked for")
    }

    // MARK: battery

    @Test func `a task waits for the charge that it requires, and stops below it`() throws {
        let rig = Self.rig(TaskConstraints(battery: 40))
        rig.change { $0.power = PolicyTests.battery(39) }
        rig.submit("p1")
        #expect(rig.vetoes("p1").contains("BatteryLevel"))
        var rationale = try #require(try Self.verdict("p1", "BatteryLevel", rig).rationale.first)
        #expect(rationale.required == "40 % or more without external power, as its manifest requires")
        #expect(rationale.observed == "39 %")
        // If the charge is also below the host's limit for all tasks, `explain` shows that limit.
        rig.change { $0.power = PolicyTests.battery(15) }
        rationale = try #require(try Self.verdict("p1", "BatteryLevel", rig).rationale.first)
        #expect(rationale.required == "20 % or more without external power")
        rig.change { $0.power = .unknown }
        #expect(rig.vetoes("p1") == ["BatteryLevel"])
        rig.change { $0.power = .known(.mains) }
        #expect(rig.launched() == ["com.example.a.p1"])
        let launch = rig.begin(RequestID(rawValue: 1))
        rig.change { $0.power = PolicyTests.battery(41) }
        #expect(rig.take() == [])
        rig.change { $0.power = PolicyTests.battery(39) }
        #expect(rig.take() == [.expire(launch, .lowBattery)])
    }

    @Test func `the charge also counts for a continued task`() {
        let rig = Self.rig(TaskConstraints(battery: 40), of: "export")
        rig.change { $0.power = PolicyTests.battery(39) }
        rig.submit("export.film")
        #expect(rig.vetoes("export.film") == ["BatteryLevel"])
        rig.change { $0.power = PolicyTests.battery(40) }
        #expect(rig.launched() == ["com.example.a.export.film"])
    }

    // MARK: between

    /// A date of 2026 in UTC.
    static func utc(_ month: Int, _ day: Int, _ hour: Int, _ minute: Int = 0) -> WallTime {
        let days = CivilDate(year: 2026, month: month, day: day).dayNumber
        return WallTime(sinceEpoch: .seconds(days * 86_400 + Int64(hour * 3600 + minute * 60)))
    }

    /// The changes of the clocks in Berlin in 2026.
    static let spring = LocalTimeChange(at: utc(3, 29, 1), before: .seconds(3600), after: .seconds(7200))
    static let autumn = LocalTimeChange(at: utc(10, 25, 1), before: .seconds(7200), after: .seconds(3600))

    static func situation(_ changes: [LocalTimeChange], _ now: WallTime) -> Situation {
        var situation = Situation(settings: SchedulerSettings())
        situation.takeLocalTimeChanges(changes)
        situation.notice(now)
        return situation
    }

    @Test func `a window over midnight is open from its begin to its end`() throws {
        let window = try #require(DailyWindow(start: 22 * 60, end: 6 * 60))
        let situation = Self.situation([], Self.utc(6, 1, 12))
        let cases: [(WallTime, Bool, WallTime)] = [
            (Self.utc(6, 1, 21, 59), false, Self.utc(6, 1, 22)),
            (Self.utc(6, 1, 22), true, Self.utc(6, 2, 6)),
            (Self.utc(6, 2, 5, 59), true, Self.utc(6, 2, 6)), (Self.utc(6, 2, 6), false, Self.utc(6, 2, 22)),
        ]
        for (time, isOpen, until) in cases {
            let state = situation.state(of: window, at: time)
            #expect(state.isOpen == isOpen && state.until == until, "\(time.text)")
        }
    }

    @Test func `clocks that change move the window as people expect`() throws {
        // In spring, 02:30 does not exist: the window opens at 03:00 summer time.
        let early = try #require(DailyWindow(start: 150, end: 240))
        var situation = Self.situation([Self.spring], Self.utc(3, 28, 12))
        #expect(situation.state(of: early, at: Self.utc(3, 28, 12)).until == Self.utc(3, 29, 1))
        #expect(situation.state(of: early, at: Self.utc(3, 29, 1)).until == Self.utc(3, 29, 2))
        // A later window opens an hour earlier than the day before.
        let morning = try #require(DailyWindow(start: 300, end: 360))
        #expect(situation.state(of: morning, at: Self.utc(3, 28, 12)).until == Self.utc(3, 29, 3))
        // A window inside the gap is skipped on that day.
        let inGap = try #require(DailyWindow(start: 130, end: 170))
        #expect(situation.state(of: inGap, at: Self.utc(3, 28, 12)).until == Self.utc(3, 30, 0, 10))
        // In autumn, 02:30 comes twice: the window opens at the first one, and stays open.
        situation = Self.situation([Self.autumn], Self.utc(10, 24, 12))
        #expect(situation.state(of: early, at: Self.utc(10, 24, 12)).until == Self.utc(10, 25, 0, 30))
        #expect(situation.state(of: early, at: Self.utc(10, 25, 1, 10)).isOpen)
        #expect(situation.state(of: early, at: Self.utc(10, 25, 0, 30)).until == Self.utc(10, 25, 3))
        let night = try #require(DailyWindow(start: 1320, end: 150))
        #expect(situation.state(of: night, at: Self.utc(10, 24, 22)).until == Self.utc(10, 25, 1, 30))
    }

    @Test func `a task starts with an alarm at the opening, and stops with windowEnded at the end`() throws {
        let rig = SchedulerRig([])
        let window = try #require(DailyWindow(start: 22 * 60, end: 6 * 60))
        rig.send(.localTimeChanged(offset: .seconds(7200)))
        rig.send(
            .handlersChanged([.make("com.example.a") { $0.constrain("p1", TaskConstraints(between: window)) }]
            ))
        // Noon in local time.
        let midnight = rig.now.wall.wholeSeconds - (rig.now.wall.wholeSeconds + 7200) % 86_400
        rig.advance(.seconds(midnight + 86_400 + 12 * 3600 - rig.now.wall.wholeSeconds))
        rig.submit("p1")
        #expect(rig.vetoes("p1") == ["Between"])
        let opening = rig.now.wall + .seconds(10 * 3600)
        #expect(rig.wake.wall == opening)
        let rationale = try #require(try Self.verdict("p1", "Between", rig).rationale.first)
        #expect(rationale.sentence == "The local time is 12:00; it must be from 22:00 to 06:00")
        #expect(rationale.earliestChange == opening)
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("p1")))
        let forecast = rig.scheduler.forecast(request, from: ConditionHistory(), at: rig.now)
        #expect(forecast.unchanged == opening)
        rig.advance(.seconds(10 * 3600 - 1))
        #expect(rig.launched() == [])
        rig.advance(.seconds(1))
        #expect(rig.launched() == ["com.example.a.p1"])
        let launch = rig.begin(request.id)
        for _ in 0..<47 {
            rig.advance(.seconds(595))
            rig.send(.progressed(launch, TaskProgress(completed: 1, total: 2), changedAt: nil))
        }
        _ = rig.take()
        rig.end(launch)
        // A launch that begins shortly before the end of the window stops at that end.
        rig.advance(opening + .seconds(8 * 3600 - 60) - rig.now.wall)
        let late = rig.run("p1")
        _ = rig.take()
        #expect(rig.wake.boot == rig.now.boot + .seconds(60))
        rig.advance(.seconds(60))
        #expect(rig.take() == [.expire(late, .windowEnded)])
    }

    @Test func `the end of the window is found again after the clock was set`() throws {
        let rig = SchedulerRig([])
        let second = rig.now.wall.wholeSeconds.floorRemainder(by: 86_400)
        let start = Int(second / 60)
        let window = try #require(DailyWindow(start: start, end: (start + 5) % 1440))
        rig.send(
            .handlersChanged([.make("com.example.a") { $0.constrain("p1", TaskConstraints(between: window)) }]
            ))
        let launch = rig.run("p1")
        _ = rig.take()
        rig.moments.jumpWallClock(by: .seconds(3600))
        rig.send(.timePassed)
        #expect(rig.take() == [.expire(launch, .windowEnded)])
    }

    // MARK: when

    @Test func `an expression holds a task, explains its clauses, and stops the launch`() throws {
        let types: [String: PayloadType] = ["urgent": .boolean]
        let when = try WhenExpression(
            "battery >= 40 and (network == unmetered or payload.urgent)", payload: types)
        let rig = Self.rig(TaskConstraints(when: when), payload: types)
        rig.change {
            $0.power = PolicyTests.battery(35)
            $0.network = .known(.metered)
        }
        rig.submit("p1") { $0.payload = #"{"urgent":false}"# }
        #expect(rig.vetoes("p1") == ["When", "Score"] || rig.vetoes("p1") == ["When"])
        var rationale = try Self.verdict("p1", "When", rig).rationale
        #expect(
            rationale[0].sentence
                == "The expression in 'when' is false, because 3 clauses fail; it must be true: \(when.text)")
        #expect(
            rationale.dropFirst().map(\.sentence) == [
                "The fact battery is 35 %; the clause needs battery >= 40",
                "The fact network is metered; the clause needs network == unmetered",
                "The fact payload.urgent is false; the clause needs payload.urgent",
            ])
        #expect(
            rationale[0].remedy?.hasPrefix(
                "Together, these are enough: battery >= 40; network == unmetered, or") == true)
        rig.change { $0.power = PolicyTests.battery(80) }
        rationale = try Self.verdict("p1", "When", rig).rationale
        #expect(
            rationale[0].remedy?.hasPrefix(
                "This is enough: network == unmetered. Or submit the request again with payload.urgent, or")
                == true)
        rig.change { $0.network = .unknown }
        rationale = try Self.verdict("p1", "When", rig).rationale
        #expect(rationale[0].observed.hasPrefix("unknown"))
        rig.submit("p2") { $0.payload = #"{"urgent":false}"# }
        rig.change {
            $0.network = .known(.unmetered)
            $0.power = .known(.mains)
        }
        #expect(rig.launched().contains("com.example.a.p1"))
        let launch = rig.begin(RequestID(rawValue: 1))
        rig.change { $0.gpu = .known(true) }
        #expect(rig.take() == [])
        rig.change { $0.network = .known(.metered) }
        #expect(rig.take() == [.expire(launch, .conditionLost)])
    }

    @Test func `the verdict names no clause that another requirement excludes`() throws {
        // Processing needs an idle device.
        let when = try WhenExpression("not idle or condition.vpn", payload: [:])
        let rig = Self.rig(TaskConstraints(when: when))
        rig.change {
            $0.user = .known(.idle)
            $0.custom = ["vpn": .known(false)]
        }
        rig.submit("p1")
        let verdict = try Self.verdict("p1", "When", rig)
        #expect(
            verdict.rationale.dropFirst().map(\.required) == [
                "not idle, which another requirement excludes",
                "condition.vpn, which alone would be enough",
            ])
        let remedy = try #require(verdict.rationale.first?.remedy)
        #expect(remedy.hasPrefix("This is enough: condition.vpn (to try it:"))
    }

    @Test(arguments: [
        ("network != unmetered", "not network == unmetered"),
        ("battery >= 80 and not externalPower", "not (battery < 80 or externalPower)"),
        ("network == metered or thermal < fair", "not (network != metered and not thermal < fair)"),
        ("storage > 4GiB", "not storage <= 4GiB"),
        ("not idle or condition.vpn", "not (idle and not condition.vpn)"),
    ])
    func `equal expressions give the same acts`(one: String, other: String) throws {
        func acts(_ text: String) throws -> [String] {
            let rig = Self.rig(
                TaskConstraints(when: try WhenExpression(text, payload: [:])), of: "refresh")
            rig.change {
                $0.network = .known(.unmetered)
                $0.power = .known(
                    PowerCondition(externalPower: true, isCharging: true, batteryPercent: 40))
                $0.thermal = .known(.fair)
                $0.storage = .known(.gibibytes(1))
                $0.custom = ["vpn": .known(false)]
            }
            rig.submit("refresh")
            let request = try #require(rig.scheduler.pendingRequest(of: .sample("refresh")))
            let subject = rig.scheduler.situation.subject(request, isTelling: false)
            return When().acts(for: subject, in: rig.scheduler, at: rig.now).map(\.key)
        }
        let expected = try acts(one)
        #expect(try acts(other) == expected)
        #expect(!expected.isEmpty && expected.allSatisfy { !$0.hasPrefix("Make sure") })
    }

    @Test func `a payload's values decide for one request`() throws {
        let types: [String: PayloadType] = ["urgent": .boolean]
        let when = try WhenExpression("payload.urgent", payload: types)
        for isUrgent in [false, true] {
            let rig = Self.rig(TaskConstraints(when: when), payload: types)
            rig.submit("p1") { $0.payload = "{\"urgent\":\(isUrgent)}" }
            #expect(rig.launched().count == (isUrgent ? 1 : 0))
        }
    }

    @Test func `a condition that no test reads judges none of the requests again`() throws {
        let bits = 0..<5
        let types = Dictionary(uniqueKeysWithValues: bits.map { ("p\($0)", PayloadType.boolean) })
        let when = try WhenExpression(
            "idle and " + bits.map { "(payload.p\($0) or battery >= \(40 + $0))" }.joined(separator: " and "),
            payload: types)
        let rig = Self.rig(TaskConstraints(when: when), of: "export", payload: types)
        rig.scheduler.pending.mostGroups = 4
        rig.change { $0.user = .known(.active) }
        for number in 0..<(Scheduler.looksPerPass + 100) {
            let payload = bits.map { "\"p\($0)\":\(number & 1 << $0 != 0)" }.joined(separator: ",")
            rig.submit("export.x\(number)") { $0.payload = "{\(payload)}" }
        }
        #expect(rig.launched() == [])
        // A pass that reached its limit had to judge all of them.
        rig.change { $0.gpu = .known(true) }
        #expect(!rig.scheduler.isPassCut)
        rig.change { $0.lowPowerMode = .known(true) }
        rig.change { $0.lowPowerMode = .known(false) }
        #expect(!rig.scheduler.isPassCut)
        rig.change { $0.power = PolicyTests.battery(20) }
        #expect(!rig.scheduler.isPassCut, "the user alone keeps each of them from starting")
        rig.change { $0.user = .known(.idle) }
        #expect(!rig.launched().isEmpty)
    }

    /// The values of payloads are part of what a group of requests needs, and clients choose them.
    @Test func `payloads make no more groups than the limit, and each request is still judged alone`() throws
    {
        let bits = 0..<5
        let types = Dictionary(uniqueKeysWithValues: bits.map { ("p\($0)", PayloadType.boolean) })
        let when = try WhenExpression(
            bits.map { "(payload.p\($0) or battery >= \(40 + $0))" }.joined(separator: " and "),
            payload: types)
        let rig = Self.rig(TaskConstraints(when: when), of: "export", payload: types)
        rig.scheduler.pending.mostGroups = 4
        rig.change { $0.power = PolicyTests.battery(39) }
        func submit(_ name: String, _ mask: Int) -> RequestID {
            let payload = bits.map { "\"p\($0)\":\(mask & 1 << $0 != 0)" }.joined(separator: ",")
            return rig.submit("export.\(name)") { $0.payload = "{\(payload)}" }
        }
        /// The names of all launches, which end at once.
        func launchedInTurn() -> Set<String> {
            var names: Set<String> = []
            while true {
                let ids = rig.takeAll().compactMap {
                    if case .launch(let id, _, _, _) = $0 { id } else { nil }
                }
                if ids.isEmpty { return names }
                for id in ids {
                    names.insert(rig.stored[id]!.identifier.rawValue)
                    rig.end(rig.begin(id))
                }
            }
        }
        for mask in 0..<31 { _ = submit("x\(mask)", mask) }
        #expect(launchedInTurn() == [])
        #expect(rig.scheduler.pending.groupCount <= 5)
        #expect(rig.vetoes("export.x7") == ["When"])
        for bit in bits {
            rig.change { $0.power = PolicyTests.battery(40 + bit) }
            // Those that need this charge: of the bits that are not set, this one is the highest.
            let expected = (0..<31).filter { mask in bits.last { mask & 1 << $0 == 0 } == bit }
            #expect(launchedInTurn() == Set(expected.map { "com.example.a.export.x\($0)" }))
        }
        // Groups without requests are given up, and their places are used again.
        rig.change { $0.power = PolicyTests.battery(39) }
        for mask in 0..<31 {
            let id = submit("y", mask)
            #expect(launchedInTurn() == [])
            rig.send(.withdrawn(id))
        }
        #expect(rig.scheduler.pending.groupCount <= 5)
        _ = submit("z", 31)
        #expect(launchedInTurn() == ["com.example.a.export.z"])
    }

    @Test func `an hour is waited for with an alarm, and its end stops the launch`() throws {
        let hour = 3
        let when = try WhenExpression(
            "hour >= \(hour) and hour < \(hour + 1) and externalPower", payload: [:])
        let rig = Self.rig(TaskConstraints(when: when))
        let day = rig.now.wall.wholeSeconds.floorDivided(by: 86_400) + 1
        rig.advance(.seconds(day * 86_400 - rig.now.wall.wholeSeconds))
        rig.submit("p1")
        let opening = WallTime(sinceEpoch: .seconds(day * 86_400 + Int64(hour) * 3600))
        #expect(rig.wake.wall == opening)
        // While a condition keeps it waiting, too, no alarm is set.
        rig.change { $0.power = PolicyTests.battery(90) }
        #expect(rig.wake.wall == nil)
        rig.change { $0.power = .known(.mains) }
        #expect(rig.wake.wall == opening)
        rig.advance(.seconds(Int64(hour) * 3600))
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(rig.begin(RequestID(rawValue: 1)))
        rig.advance(.seconds(3600 - 30))
        let launch = rig.run("p1")
        _ = rig.take()
        #expect(rig.wake.boot == rig.now.boot + .seconds(30))
        rig.advance(.seconds(30))
        #expect(rig.take() == [.expire(launch, .conditionLost)])
    }

    @Test func `a weekday is that of local time`() throws {
        var situation = Self.situation([], Self.utc(11, 22, 22, 30))
        let day = { (situation: Situation) in
            situation.value(of: .machine(.weekday), at: Self.utc(11, 22, 22, 30))
        }
        #expect(day(situation) == .text("Sun"))
        situation.localOffset = .seconds(7200)
        #expect(day(situation) == .text("Mon"))
        #expect(situation.value(of: .machine(.hour), at: Self.utc(11, 22, 22, 30)) == .number(0))
    }

    // MARK: Hostile recordings

    @Test func `a window out of range is not decoded`() throws {
        func window(_ json: String) throws -> DailyWindow {
            try JSONDecoder().decode(DailyWindow.self, from: Data(json.utf8))
        }
        #expect(try window(#"{"start":1320,"end":360}"#) == DailyWindow(start: 1320, end: 360))
        for json in [#"{"start":9000,"end":1}"#, #"{"start":1,"end":1}"#, #"{"start":-1,"end":1}"#] {
            #expect(throws: DecodingError.self) { try window(json) }
        }
    }

    @Test(arguments: ["[[0,5]]", "[[-1]]", "[[-2,5]]", "[[-1,0]]", "[[-1,-3]]"])
    func `an outlook with wrong numbers is not decoded`(slots: String) throws {
        func outlook(_ slots: String) throws -> ConditionOutlook {
            let start = try JSONEncoder().encode(WallTime(milliseconds: 0))
            let json =
                #"{"states":[],"start":"# + String(decoding: start, as: UTF8.self) + ",\"slots\":\(slots)}"
            return try JSONDecoder().decode(ConditionOutlook.self, from: Data(json.utf8))
        }
        #expect(try outlook("[[-1,5],[]]").slots.count == 2)
        #expect(throws: DecodingError.self) { try outlook(slots) }
    }

    @Test func `a history with a wrong number of counts has no likelihood`() {
        var usage = UsageHistogram()
        (usage.quarters, usage.quartersSince, usage.firstDay) = ([1], 0, 0)
        let situation = Situation(settings: SchedulerSettings())
        let time = WallTime(sinceEpoch: .seconds(100 * 86_400))
        #expect(usage.likelihood(at: time, in: situation) == nil)
        usage.quarters = Array(repeating: .max, count: 192)
        #expect(usage.likelihood(at: time, in: situation) == 1)
    }

    // MARK: Start deadlines

    @Test func `deadlines of requests that are gone do not pile up`() throws {
        var deadlines = StartDeadlines()
        var pending: [RequestID: TaskRequest] = [:]
        for number in 1...10_000 {
            let id = RequestID(rawValue: Int64(number))
            var submission = TaskSubmission(
                identifier: try TaskIdentifier("com.example.a.p1"), origin: .client)
            submission.startDeadline = StartDeadline(
                date: WallTime(milliseconds: 1_000_000 + Int64(number)), action: .fail)
            let request = TaskRequest(
                id: id, submission: submission, bundle: try BundleIdentifier("com.example.a"),
                kind: .processing, submittedAt: WallTime(milliseconds: 1), attempt: 1, notBefore: nil,
                deadline: WallTime(milliseconds: 2))
            // The first two requests stay pending; each later one is gone when the next one comes.
            deadlines.add(request, among: pending.count) { pending[$0] }
            if number > 3 { pending[RequestID(rawValue: Int64(number - 1))] = nil }
            pending[id] = request
        }
        #expect(deadlines.count < 100)
        #expect(deadlines.first { pending[$0] } == WallTime(milliseconds: 1_000_001))
        #expect(
            deadlines.take(until: WallTime(milliseconds: 2_000_000)) { pending[$0] }.count == pending.count)
    }

    // MARK: Advice about expressions

    @Test func `advice prefers the nearer hour, and says how to set custom conditions`() throws {
        let text = "(hour < 6 or hour >= 22) and externalPower and (condition.docked or payload.urgent)"
        let types: [String: PayloadType] = ["urgent": .boolean]
        let when = try WhenExpression(text, payload: types)
        let rig = Self.rig(TaskConstraints(when: when), payload: types)
        let day = rig.now.wall.wholeSeconds.floorDivided(by: 86_400) + 1
        rig.moments.jumpWallClock(by: .seconds(day * 86_400 + 20 * 3600 - rig.now.wall.wholeSeconds))
        rig.send(.timePassed)
        rig.change { $0.power = PolicyTests.battery(35) }
        rig.submit("p1") { $0.payload = #"{"urgent":false}"# }
        func remedy() throws -> String { try Self.verdict("p1", "When", rig).rationale[0].remedy ?? "" }
        #expect(
            try remedy().hasPrefix(
                "Together, these are enough: hour >= 22; externalPower; condition.docked (define it in conditions.d)"
            ))
        rig.change { $0.custom["docked"] = .known(false) }
        #expect(try remedy().contains("condition.docked (to try it: bgtask conditions set docked=on)"))
    }
}
