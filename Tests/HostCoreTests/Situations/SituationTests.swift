import ControlWire
import Foundation
import MemoryStore
import TaskModel
import Testing

@testable import HostCore
@testable import Scheduling

extension Testing.Tag {
    /// Situations in which a request waits, with the host's explanation acted on.
    @Tag static var situation: Self
}

/// What the host says about a waiting request is true: each remedy is acted on, and what it promised follows.
@Suite(.tags(.situation)) struct SituationTests {
    @Test(arguments: WaitingSituation.all)
    func `each remedy does what it says`(situation: WaitingSituation) throws {
        var rig = try SituationRig()
        try situation.prepare(&rig)
        try rig.checkRemedies()
    }

    /// Documentation/Headlines.md has the headline of each situation, for people.
    ///
    /// With BGTASK_WRITE_HEADLINES=1, the test writes the page.
    @Test func `the headlines are those of the documentation`() throws {
        var text = Self.introduction
        for situation in WaitingSituation.all {
            var rig = try SituationRig()
            try situation.prepare(&rig)
            text += "| \(situation) | \(try rig.explanation().outlook.headline) |\n"
        }
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Documentation/Headlines.md")
        if ProcessInfo.processInfo.environment["BGTASK_WRITE_HEADLINES"] == "1" {
            try text.write(to: page, atomically: true, encoding: .utf8)
        }
        let known = try String(contentsOf: page, encoding: .utf8)
        #expect(text == known)
        #expect(WaitingSituation.all.count >= 60)
    }

    private static let introduction = """
        # Headlines

        `bgtask explain` and `bgtask pending` say in one sentence, the *headline*, what a request waits for, and what
        to do. This page lists the headlines of all situations that the tests know
        (`Tests/HostCoreTests/Situations/Situations.swift`). It is for people who want to know when the host says
        what, and for people who change these texts.

        Each situation begins at 08:00 on a Friday, and "it" is a request or a task of the bundle
        `com.example.photos`. All conditions that a situation does not name are good: external power, an unmetered
        network, and an idle, cool machine. A budget that is used up has the limit 0. *Short* slots are those of
        refreshes, pushes and transfer events, and *long* slots those of processing and activities.
        [Architecture.md](Architecture.md#terms) and [Scheduling.md](Scheduling.md#lanes-and-slots) explain the terms.
        These parts of a headline have an exact meaning:

        - *and it starts at once*: the host tried the advice on a copy of its scheduler, and the request started. The
          advice *and it starts* takes a while, for example until the machine is cool.
        - Without such a promise, the effect is not known in advance, for example that of a sensor's restart; or the
          slots stay occupied all the same; or more than 1,000 requests are pending, too many for such a copy.
        - *it can start at 10:00, at 10:15 at the latest*: the request may start later than its date, so that the
          machine wakes once for several requests ([Scheduling.md](Scheduling.md#windows-and-alarms)).

        A test compares the page with the host. It also does what each headline advises, and checks that the request
        then does what the host promised. After a change of the texts, write the page with
        `BGTASK_WRITE_HEADLINES=1 make test FILTER=SituationTests`, and read it.

        | situation | headline |
        |---|---|

        """

    @Test func `the past of a request is counted by what held it, and kept with its launch`() throws {
        var rig = try SituationRig()
        try rig.change { $0.power = WaitingSituation.battery(80) }
        try rig.ask("cleanup")
        let request = try #require(rig.request)
        try rig.pass(.seconds(3600))
        try rig.change {
            $0.power = .known(.mains)
            $0.user = .known(.active)
        }
        // Waits are not measured on the wall clock, so a day's jump of it adds nothing.
        rig.world.setClock(.seconds(86_400))
        try rig.calm()
        try rig.pass(.seconds(1200))
        // A look at the request by the scheduler must not change the past.
        try rig.settings { $0.conductReward += 1 }
        let expected = ["ExternalPower 3600.0", "DeviceActivity 1200.0"]
        func text(_ spans: [WaitSpan]) -> [String] { spans.map { "\($0.policy) \($0.duration.inSeconds)" } }
        #expect(text(try rig.explanation().outlook.waited) == expected)
        #expect(
            text(rig.world.core.pendingRequest(of: rig.task, at: rig.world.now)?.waited ?? []) == expected)
        try rig.change { $0.user = .known(.idle) }
        let record = try #require(rig.world.store.launches(of: request.id).first)
        #expect(text(rig.world.core.current(record).waited) == expected)
        #expect(text(try #require(rig.world.core.explain(record).start).waited) == expected)
        #expect(record.explanation?.utf8.count ?? 0 < 1000)
    }

    @Test func `a request waits for its date, and then for its window`() throws {
        var rig = try SituationRig()
        let now = rig.world.now.wall
        try rig.ask("index") { $0.earliestBeginDate = now + .seconds(600) }
        let request = try #require(rig.request)
        try rig.pass(.seconds(700))
        func text(_ spans: [WaitSpan]) -> [String] { spans.map { "\($0.policy) \($0.duration.inSeconds)" } }
        #expect(
            text(try rig.explanation().outlook.waited) == ["EarliestBeginDate 600.0", "Window 100.0"])
        try rig.pass(.seconds(50))
        let record = try #require(rig.world.store.launches(of: request.id).first)
        #expect(
            text(rig.world.core.current(record).waited) == ["EarliestBeginDate 600.0", "Window 150.0"])
    }

    @Test func `a request that waits for a slot, and then for a restart, has both in its past`() throws {
        var rig = try SituationRig()
        try rig.submit("mail.index")
        try rig.submit("feed.index")
        try rig.ask("index")
        try rig.pass(.seconds(100))
        #expect(try rig.explanation().outlook.waited.map(\.object) == ["a free slot"])
        rig.world.conditions.user = .known(.active)
        try rig.restart()
        try rig.pass(.seconds(50))
        let waited = try rig.explanation().outlook.waited
        #expect(waited.map(\.policy) == ["EarlierHost", "DeviceActivity", "Host"])
        #expect(waited.map(\.duration) == [.seconds(100), .seconds(50), .seconds(5)])
        #expect(waited[0].object == "reasons that only the earlier host knew")
    }

    @Test func `without evidence of the end of the earlier host, all time counts for the host's start`()
        throws
    {
        var rig = try SituationRig()
        try rig.change { $0.power = WaitingSituation.battery(80) }
        try rig.ask("cleanup")
        try rig.pass(.seconds(100))
        try rig.restart(knowsEnd: false)
        let waited = try rig.explanation().outlook.waited
        #expect(waited.map(\.policy) == ["Host"])
        #expect(waited.map(\.duration) == [.seconds(105)])
    }

    @Test func `the time before its date is not that of an earlier host`() throws {
        var rig = try SituationRig()
        let now = rig.world.now.wall
        try rig.ask("index") { $0.earliestBeginDate = now + .seconds(60) }
        try rig.change { $0.user = .known(.active) }
        try rig.pass(.seconds(100))
        try rig.restart()
        let waited = try rig.explanation().outlook.waited
        #expect(waited.map(\.policy) == ["EarliestBeginDate", "EarlierHost", "Host"])
        #expect(waited.map(\.duration) == [.seconds(60), .seconds(40), .seconds(5)])
    }

    @Test func `a conflict with a limit ends when the headline, the holder and the forecast say`() throws {
        var rig = try SituationRig()
        try rig.settings { $0.conflictLimit = .seconds(120) }
        try rig.submit("mail.hog")
        try rig.ask("print")
        let request = try #require(rig.request)
        let outlook = try rig.explanation().outlook
        // The lease of the holder would end eight hours later.
        let end = rig.world.now.wall + .seconds(130)
        #expect(outlook.holders.map(\.latestEnd) == [end])
        #expect(outlook.headline.contains("otherwise, L1 ends at 08:02 at the latest"), "\(outlook.headline)")
        let forecast = rig.world.core.scheduler.forecast(
            request, from: ConditionHistory(), at: rig.world.now)
        #expect(forecast.unchanged == end)
        try rig.pass(.seconds(130))
        #expect(rig.world.store.launches(of: request.id).count == 1)
    }

    @Test func `a budget of 0 has no date`() throws {
        var rig = try SituationRig()
        try rig.call(.change(SituationRig.bundle, .budget(launches: 0, cpu: nil)))
        try rig.ask("refresh")
        let verdict = try rig.explanation().explanation.verdicts.first { $0.policy == "Budget" }
        let rationale = try #require(verdict?.rationale.first)
        #expect(rationale.earliestChange == nil)
        #expect(
            rationale.remedy?.hasPrefix("A budget of 0 never increases by itself. Raise it: bgtask") == true)
        // Nothing happens at midnight either, and the next change of the budget still starts it.
        try rig.pass(.seconds(86_400))
        #expect(rig.starts == 0)
        let request = try #require(rig.request)
        try rig.call(.change(SituationRig.bundle, .budget(launches: 1, cpu: nil)))
        #expect(rig.world.store.launches(of: request.id).count == 1)
    }

    @Test func `with very many requests, a headline has every reason and the date, too`() throws {
        var rig = try SituationRig()
        try rig.submit("mail.index")
        try rig.submit("feed.index")
        let now = rig.world.now.wall
        try rig.ask("late") { $0.earliestBeginDate = now + .seconds(7200) }
        try rig.change { $0.user = .known(.active) }
        var foresight = Foresight(rig.world.core.scheduler, at: rig.world.now)
        let request = try #require(rig.request)
        let headline = foresight.headline(
            of: rig.world.core.scheduler.situation.subject(request, isTelling: false),
            heldBy: foresight.presentVetoes(of: request))
        #expect(
            headline.hasPrefix(
                "Waits for its begin date, 'when' to be true (hour >= 22 and externalPower) and an idle device: it can start at 22:00, if the device is idle then"
            ))
    }

    @Test func `a forecast without changes is not before the end of the launches in the slots`() throws {
        var rig = try SituationRig()
        try rig.submit("mail.index")
        try rig.submit("feed.index")
        try rig.ask("index")
        let (scheduler, now) = (rig.world.core.scheduler, rig.world.now)
        let request = try #require(rig.request)
        let ends = try rig.explanation().outlook.holders.compactMap(\.latestEnd)
        let forecast = scheduler.forecast(request, from: ConditionHistory(), at: now)
        #expect(forecast.unchanged == ends.min())
        // The lease could be renewed, but not while a request waits for the slot.
        #expect(try #require(ends.min()) == now.wall + .seconds(610))
    }

    @Test func `the end of a slot takes turns into account if something short also holds the request`() throws
    {
        var rig = try SituationRig()
        // Otherwise, the two launches would end at their first lease, because they make no progress.
        rig.world.usesCPU = true
        try rig.submit("mail.index")
        try rig.submit("feed.index")
        let now = rig.world.now.wall
        try rig.ask("index") { $0.earliestBeginDate = now + .seconds(1200) }
        let request = try #require(rig.request)
        // The host wakes for it a quarter of the 20 min after its date.
        let end = now + .seconds(1500) + .seconds(10)
        let outlook = try rig.explanation().outlook
        #expect(outlook.holders.map(\.latestEnd) == [end, end])
        let forecast = rig.world.core.scheduler.forecast(
            request, from: ConditionHistory(), at: rig.world.now)
        let unchanged = try #require(forecast.unchanged)
        #expect(unchanged <= end)
        try rig.pass(end - now)
        #expect(rig.world.store.launches(of: request.id).count == 1)
    }

    @Test func `a budget without a sensible limit is explained`() throws {
        var rig = try SituationRig()
        try rig.change { $0.user = .known(.active) }
        try rig.call(.change(SituationRig.bundle, .budget(launches: .max, cpu: nil)))
        try rig.ask("refresh")
        try rig.ask("sync")
        let budget = try rig.explanation().explanation.verdicts.first { $0.policy == "Budget" }
        #expect(budget?.rationale.first?.required == "less than 1000000")
        func change(_ launches: Int) throws -> BundleChange? {
            let text = #"{"budget": {"launches": \#(launches)}}"#
            return try JSONDecoder().decode(BundleChangeMessage.self, from: Data(text.utf8)).change
        }
        #expect(try change(1_000_000) == .budget(launches: 1_000_000, cpu: nil))
        #expect(try change(1_000_001) == nil)
    }

    @Test func `a conflicting task is not to be launched`() throws {
        var rig = try SituationRig()
        try rig.submit("export")
        try rig.ask("rival")
        let commands = try rig.explanation().outlook.remedies.flatMap(\.acts).compactMap(\.command)
        #expect(commands == [["expire", "L1"]])
    }

    /// Situations mixed at random, with restarts, sleep, clock jumps and lost sensors between them.
    @Test(arguments: 1...60)
    func `mixed at random, each remedy does what it says`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var rig = try SituationRig()
        for _ in 0..<4 {
            try rig.disturb(&random)
            guard rig.request != nil else { continue }
            try rig.checkRemedies()
        }
    }
}

extension SituationRig {
    /// Checks that all listings say the same, and that acting on each remedy has the promised effect.
    mutating func checkRemedies() throws {
        let explanation = try explanation()
        let outlook = explanation.outlook
        let isPending = request != nil
        if isPending { try checkListings(outlook) }
        for remedy in outlook.remedies {
            var copy = self
            copy.endsExpired = true
            if !isPending { try copy.submit("\(task)".replacing("com.example.", with: "")) }
            try copy.check(remedy, outlook)
        }
        // On a full disk, nothing starts by itself.
        guard isPending, !isDiskFull else { return }
        // The host also said when the request starts if nobody does anything.
        var foresight = Foresight(world.core.scheduler, at: world.now)
        guard let request else { return }
        if case .startsAt(let first, let latest) = foresight.plan(for: request).natural {
            var copy = self
            try copy.checkStart(first, latest, of: request, "nothing is done")
        }
    }

    private func checkListings(_ outlook: Outlook) throws {
        let core = world.core
        let summary = core.pendingSummaries(after: nil, limit: 2000, at: world.now).rows
            .first { $0.request.identifier == task }
        guard let summary, summary.headline == outlook.headline else {
            throw BrokenPromise("pending says '\(summary?.headline ?? "")', explain '\(outlook.headline)'")
        }
        let row = core.pendingRequest(of: task, at: world.now)
        if row?.headline != outlook.headline || row?.waited != outlook.waited {
            throw BrokenPromise("the row of \(task) has another headline or past than explain")
        }
        let vetoes = try explanation().explanation.vetoes
        if vetoes.first != summary.reason || max(0, vetoes.count - 1) != summary.otherReasons {
            throw BrokenPromise("explain gives \(vetoes.map(\.policy)), the summary \(summary)")
        }
    }

    private mutating func check(_ remedy: Remedy, _ outlook: Outlook) throws {
        let acts = remedy.acts.map(\.text)
        guard let request = request else { return }
        let before = starts(of: request)
        for act in remedy.acts {
            guard try perform(act) else {
                if remedy.effect == .unknown { return }
                throw BrokenPromise("nobody can do '\(act.text)', and it is promised: \(outlook.headline)")
            }
        }
        let hasStarted = starts(of: request) > before
        switch remedy.effect {
        case .starts:
            if !hasStarted {
                let now = try? explanation().outlook.headline
                throw BrokenPromise("\(acts) does not start it: \(outlook.headline) Now: \(now ?? "")")
            }
        case .startsAt(let first, let latest): try checkStart(first, latest, of: request, "\(acts)")
        case .takesTurn:
            // The store is asked again after some seconds.
            if !isDiskFull, acts.first?.hasPrefix("Free some space") == true {
                try pass(.seconds(10))
                if starts(of: request) == before { throw BrokenPromise("it does not start with space") }
            }
        case .waits(let object):
            let now = try explanation().outlook.headline
            if hasStarted || !now.contains(object) {
                throw BrokenPromise("\(acts) should make it wait for \(object), and it says: \(now)")
            }
        case .unknown: break
        }
    }

    /// Checks that a request starts between two dates.
    private mutating func checkStart(
        _ first: WallTime, _ latest: WallTime?, of request: TaskRequest, _ acts: String
    ) throws {
        let before = starts(of: request)
        let running = world.tasks.keys.sorted()
        try pass(first - world.now.wall - .milliseconds(1))
        if starts(of: request) > before, world.tasks.keys.sorted() == running {
            throw BrokenPromise("after \(acts), it starts before \(first.text)")
        }
        try pass((latest ?? first) - world.now.wall)
        // The date assumes that no other launch begins or ends meanwhile, because that can delay the start.
        if world.tasks.keys.sorted() != running { return }
        if starts(of: request) == before {
            let now = try explanation().outlook.headline
            throw BrokenPromise("after \(acts), it does not start by \((latest ?? first).text): \(now)")
        }
    }

    /// Changes the world at random.
    mutating func disturb(_ random: inout SeededNumbers) throws {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        func one<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try restart()
        case 1:
            world.setClock(.seconds(Int64.random(in: -7200...7200, using: &random)))
            try calm()
        case 2:
            world.inputs.append(chance(0.5) ? .willSleep : .hasWoken)
            try calm()
        case 3: try pass(.seconds(Int64.random(in: 1...5000, using: &random)))
        case 4:
            if let id = world.tasks.keys.sorted().first {
                world.end(
                    id,
                    chance(0.5)
                        ? WaitingSituation.succeeded
                        : LaunchEnd(outcome: .expired, reason: .leaseEnded))
                try calm()
            }
        case 5:
            let change: BundleChange? = one([
                .dismissed, .used, .budget(launches: 0, cpu: nil), .budget(launches: nil, cpu: .zero),
                .refresh(.denied),
            ])
            if let change { try call(.change(Self.bundle, change)) }
        case 6:
            for name in ["mail.index", "feed.index", "mail.refresh", "feed.refresh"] where chance(0.6) {
                try submit(name)
            }
        default: break
        }
        let (power, user) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
        let (network, other) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<7, using: &random))
        try change { conditions in
            conditions.power =
                power == 0 ? .known(.mains) : power == 3 ? .unknown : WaitingSituation.battery(power * 35)
            conditions.user = user == 0 ? .unknown : .known(user == 1 ? .active : .idle)
            conditions.network =
                network == 4 ? .unknown : .known([.none, .constrained, .metered, .unmetered][network])
            conditions.thermal = other == 0 ? .unknown : .known(other == 1 ? .fair : .nominal)
            conditions.lowPowerMode = .known(other == 2)
            conditions.pressure = .known(
                PressureCondition(cpu: other == 3, memory: other == 4, io: false))
            conditions.custom["docked"] = .known(other == 5)
        }
        let names = ["refresh", "index", "cleanup", "sync", "upload", "dock", "export", "tidy", "events"]
        let name = one(names) ?? "index"
        let begin = chance(0.3) ? Int64.random(in: 1...5000, using: &random) : 0
        let now = world.now.wall
        try ask(name) { if begin > 0 { $0.earliestBeginDate = now + .seconds(begin) } }
    }
}
