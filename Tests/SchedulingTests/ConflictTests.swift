import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Tasks that never run beside each other.
@Suite struct ConflictTests {
    static func pattern(_ name: String) -> IdentifierPattern {
        try! IdentifierPattern("com.example.a.\(name)")
    }

    static func rig(_ conflicts: [String: [String]], slots: Int = 9) -> SchedulerRig {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = slots
        return SchedulerRig(
            [
                .make("com.example.a") {
                    for (name, others) in conflicts {
                        $0.constrain(name, TaskConstraints(conflicts: others.map(pattern)))
                    }
                }
            ], settings: settings)
    }

    @Test func `a conflict works in both directions, and explain says who holds the request`() throws {
        for (first, second) in [("p1", "p2"), ("p2", "p1")] {
            let rig = Self.rig(["p1": ["p2"]])
            let launch = rig.run(first)
            _ = rig.take()
            rig.submit(second)
            rig.submit("p3")
            #expect(rig.launched() == ["com.example.a.p3"])
            #expect(rig.vetoes(second) == ["Conflicts"])
            let rationale = try #require(
                try TaskConstraintTests.verdict(second, "Conflicts", rig).rationale.first)
            #expect(
                rationale.sentence.hasPrefix(
                    "The conflicting task com.example.a.\(first) is running"))
            #expect(rationale.remedy?.contains("bgtask expire com.example.a.\(first)") == true)
            rig.end(launch)
            #expect(rig.launched() == ["com.example.a.\(second)"])
        }
    }

    @Test func `also with a wildcard, and for bgtask launch`() {
        let rig = Self.rig(["p1": ["export.*"]])
        let launch = rig.run("export.film")
        _ = rig.take()
        let id = rig.submit("p1")
        rig.send(.simulate(id))
        #expect(rig.launched() == [])
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `tasks that conflict with each other take turns`() {
        let rig = Self.rig(["p1": ["p2", "p3"], "p2": ["p1", "p3"], "p3": ["p1", "p2"]])
        for name in ["p1", "p2", "p3"] { rig.submit(name) }
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(rig.begin(RequestID(rawValue: 1)))
        #expect(rig.launched() == ["com.example.a.p2"])
        rig.end(rig.begin(RequestID(rawValue: 2)))
        #expect(rig.launched() == ["com.example.a.p3"])
    }

    /// Two tasks that may run together must not keep a third one waiting forever.
    @Test func `a task that conflicts with two others does not starve`() throws {
        let rig = Self.rig(["p1": ["p2", "p3"]])
        var running = [rig.run("p2")]
        _ = rig.take()
        rig.advance(.seconds(1))
        rig.submit("p1")
        rig.advance(.seconds(1))
        let other = rig.submit("p3")
        #expect(rig.launched() == [], "the third one lets the second go first")
        let rationale = try #require(try TaskConstraintTests.verdict("p3", "Conflicts", rig).rationale.first)
        #expect(
            rationale.sentence
                == "The conflicting task com.example.a.p1 goes first, because it has waited longer; "
                + "it must have run")
        rig.end(running.removeFirst())
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(rig.begin(RequestID(rawValue: 2)))
        #expect(rig.launched() == ["com.example.a.p3"])
        rig.begin(other)
    }

    @Test func `a task that something else keeps waiting holds no other`() {
        let rig = Self.rig(["powered": ["p2", "p3"]])
        let launch = rig.run("p2")
        rig.advance(.seconds(1))
        rig.submit("powered")
        rig.advance(.seconds(1))
        _ = rig.take()
        rig.submit("p3")
        #expect(rig.launched() == [])
        rig.change { $0.power = PolicyTests.battery(95) }
        #expect(rig.launched() == ["com.example.a.p3"], "without power, the older one could not start anyway")
        rig.end(launch)
    }

    @Test(arguments: Seeds.of(1...60))
    func `at random, none runs beside another, none starves, and none waits without a cause`(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let names = (1...9).map { "p\($0)" }
        var pairs: Set<[String]> = []
        for _ in 0..<Int.random(in: 1...14, using: &numbers) {
            let pair = names.shuffled(using: &numbers).prefix(2)
            pairs.insert(pair.sorted())
        }
        var conflicts: [String: [String]] = [:]
        for pair in pairs.sorted(by: { $0.description < $1.description }) {
            let turned = Bool.random(using: &numbers) ? pair : pair.reversed()
            conflicts[turned[0], default: []].append(turned[1])
        }
        let rig = Self.rig(conflicts, slots: Int.random(in: 1...4, using: &numbers))
        var waiting: [String: Int] = [:]
        var running: [String: LaunchID] = [:]
        for step in 0..<400 {
            rig.advance(.seconds(1))
            for name in names where running[name] == nil && waiting[name] == nil {
                if Int.random(in: 0..<3, using: &numbers) == 0 {
                    waiting[name] = step
                    rig.submit(name)
                }
            }
            for case .launch(let id, _, _, _) in rig.takeAll() {
                let name = String(rig.stored[id]!.identifier.rawValue.split(separator: ".").last!)
                for other in running.keys {
                    #expect(!pairs.contains([name, other].sorted()), "seed \(seed): \(name) beside \(other)")
                }
                running[name] = rig.begin(id)
                waiting[name] = nil
            }
            #expect(!running.isEmpty || waiting.isEmpty, "seed \(seed): all wait for each other")
            if let ending = running.keys.sorted().randomElement(using: &numbers) {
                rig.end(running.removeValue(forKey: ending)!)
            }
            for (name, since) in waiting {
                #expect(step - since < 120, "seed \(seed): \(name) waits since \(since)")
            }
        }
    }

    // MARK: Conflicts between bundles

    /// A host in which tasks of `b` name tasks of other bundles, and with a short limit for such conflicts.
    private static func foreign(
        _ conflicts: [String], own: [String] = []
    ) throws -> (rig: SchedulerRig, manifests: [Manifest]) {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 9
        settings.conflictLimit = .seconds(300)
        let manifests: [Manifest] = [
            .make("com.example.a") { manifest in
                manifest.constrain("p1", TaskConstraints(conflicts: own.map { try! IdentifierPattern($0) }))
            },
            .make("com.example.b") { manifest in
                manifest.constrain(
                    "p1", TaskConstraints(conflicts: conflicts.map { try! IdentifierPattern($0) }))
            },
            .make("com.example.c"),
        ]
        return (SchedulerRig(manifests, settings: settings), manifests)
    }

    /// Ends a launch, whose request is pending again at once.
    private static func putBack(_ launch: LaunchID, _ request: TaskRequest, _ rig: SchedulerRig) {
        var request = request
        request.putBack(PutBack(notBefore: nil), at: rig.now.wall)
        rig.end(launch, putBack: request)
    }

    @Test func `a launch that holds another bundle for too long is stopped, and comes after it`() throws {
        let (rig, _) = try Self.foreign(["com.example.a.p1"])
        let launch = rig.run("com.example.b.p1")
        let holder = try #require(rig.running[launch])
        rig.advance(.seconds(10))
        let id = rig.submit("p1")
        _ = rig.take()
        #expect(rig.wake.boot == rig.now.boot + .seconds(300), "no other event is needed")
        let rationale = try #require(try TaskConstraintTests.verdict("p1", "Conflicts", rig).rationale.first)
        #expect(rationale.earliestChange == rig.now.wall + .seconds(300))
        rig.advance(.milliseconds(299_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
        Self.putBack(launch, holder, rig)
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(rig.begin(id))
        #expect(rig.launched() == ["com.example.b.p1"])
    }

    /// Continued tasks have slots of their own, which are filled first.
    @Test func `a continued task that is stopped for another bundle comes after it, too`() throws {
        var settings = SchedulerSettings.unpaced
        settings.conflictLimit = .seconds(300)
        let other = Manifest.make("com.example.b") { manifest in
            manifest.tasks[1].constraints = TaskConstraints(conflicts: [Self.pattern("p1")])
        }
        let rig = SchedulerRig([.make("com.example.a"), other], settings: settings)
        let launch = rig.run("com.example.b.export.x")
        let holder = try #require(rig.running[launch])
        rig.advance(.seconds(10))
        let id = rig.submit("p1")
        _ = rig.take()
        rig.advance(.seconds(300))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
        Self.putBack(launch, holder, rig)
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(rig.begin(id))
        #expect(rig.launched() == ["com.example.b.export.x"])
    }

    @Test func `a bundle can't take all places among the requests with a claim`() throws {
        let (rig, _) = try Self.foreign(["com.example.a.p1", "com.example.b.export.*"])
        let launch = rig.run("com.example.b.p1")
        for number in 1...40 { rig.submit("com.example.b.export.n\(number)") }
        rig.advance(.seconds(1))
        rig.submit("p1")
        _ = rig.take()
        #expect(rig.scheduler.situation.claims.contains { $0.bundle.rawValue == "com.example.a" })
        rig.advance(.seconds(300))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `a conflict that both bundles state has no such end, and neither has one within a bundle`()
        throws
    {
        let (rig, _) = try Self.foreign(["com.example.a.p1"], own: ["com.example.b.p1", "com.example.a.p2"])
        _ = rig.run("com.example.b.p1")
        _ = rig.run("p2")
        rig.submit("p1")
        _ = rig.take()
        rig.advance(.seconds(599))
        #expect(rig.take() == [])
    }

    /// Otherwise, a launch whose lease is renewed would hold the other task for eight hours.
    @Test(arguments: ["com.example.a.p1", "com.example.b.p2"])
    func `a launch ends after its turn if a task waits whose own manifest states the conflict`(
        waiting: String
    ) throws {
        let (rig, _) = try Self.foreign(["com.example.b.p2"], own: ["com.example.b.p1"])
        let launch = rig.run("com.example.b.p1")
        _ = rig.take()
        rig.advance(.seconds(590))
        rig.submit(waiting) { $0.earliestBeginDate = rig.now.wall + .seconds(100) }
        rig.send(.launchActive(launch))
        rig.advance(.seconds(10))
        #expect(rig.take() == [], "the request is not due yet")
        rig.advance(.seconds(90))
        let record = try #require(
            rig.takeAll().compactMap { action in
                if case .expire(launch, .leaseEnded, let record) = action { record } else { nil }
            }.first)
        #expect(
            record.verdicts.first?.rationale.first?.sentence
                == "The run time is 11 min; it must be at most 10 min, because \(waiting) waits for its end")
        rig.end(launch)
        #expect(rig.launched() == [waiting])
    }

    @Test func `the host wakes for a task that becomes due while a conflicting launch has had its turn`()
        throws
    {
        let (rig, _) = try Self.foreign([], own: ["com.example.b.p1"])
        let launch = rig.run("com.example.b.p1")
        rig.advance(.seconds(590))
        rig.send(.launchActive(launch))
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(100) }
        rig.advance(.seconds(20))
        _ = rig.take()
        let wake = try #require(rig.wake.wall) - rig.now.wall
        #expect(wake >= .seconds(80) && wake <= .seconds(120))
        rig.advance(wake)
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `a launch goes on after its turn if a conflicting task could not start then`() throws {
        let (rig, _) = try Self.foreign([], own: ["com.example.b.p1", "com.example.b.export.*"])
        let launch = rig.run("com.example.b.p1")
        _ = rig.run("com.example.b.export.x")
        rig.submit("p1")
        rig.send(.launchActive(launch))
        _ = rig.take()
        for _ in 0..<30 {
            rig.advance(.seconds(20))
            for (id, task) in rig.running where task.kind == .continuedProcessing {
                rig.send(.progressed(id, TaskProgress(completed: rig.now.boot.components.seconds, total: 0)))
            }
        }
        #expect(rig.take() == [], "a continued task has no turn")
    }

    @Test func `a request that waits for a conflict does not hold other bundles for longer than the limit`()
        throws
    {
        let (rig, _) = try Self.foreign(["com.example.a.p1", "com.example.c.p1"])
        let launch = rig.run("com.example.c.p1")
        rig.submit("com.example.b.p1")
        rig.advance(.seconds(1))
        _ = rig.take()
        rig.submit("p1")
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["Conflicts"])
        rig.advance(.milliseconds(298_999))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.p1"], "the launch of c does not concern it")
        rig.end(launch)
    }

    @Test func `a conflict that a manifest drops releases who waited for it`() throws {
        let (rig, manifests) = try Self.foreign(["com.example.a.p1"])
        _ = rig.run("com.example.b.p1")
        rig.submit("p1")
        _ = rig.take()
        var changed = manifests
        changed[1] = .make("com.example.b")
        rig.send(.handlersChanged(changed))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    // MARK: What holds a request besides the conflict

    private static func setPower(_ isOn: Bool, _ rig: SchedulerRig) {
        rig.change { $0.power = isOn ? .known(.mains) : PolicyTests.battery(95) }
    }

    @Test func `a short veto takes neither the place of a request nor the time that it was held`() {
        let rig = Self.rig(["powered": ["p2", "p3"]])
        let launch = rig.run("p2")
        rig.advance(.seconds(1))
        rig.submit("powered")
        rig.advance(.seconds(1))
        Self.setPower(false, rig)
        rig.advance(.milliseconds(500))
        Self.setPower(true, rig)
        _ = rig.take()
        rig.advance(.seconds(1))
        rig.submit("p3")
        #expect(rig.launched() == [], "the younger request lets the older one go first")
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.powered"])
    }

    @Test func `only the time in which nothing else holds a request counts, and all of it counts`() throws {
        let (rig, _) = try Self.foreign(["com.example.a.powered"])
        let launch = rig.run("com.example.b.p1")
        let id = rig.submit("powered")
        _ = rig.take()
        for _ in 0..<2 {
            rig.advance(.seconds(100))
            Self.setPower(false, rig)
            rig.advance(.seconds(50))
            Self.setPower(true, rig)
            #expect(rig.take() == [], "without power, it could not start anyway")
        }
        #expect(rig.wake.boot == rig.now.boot + .seconds(100), "it was held for 200 of 300 s")
        rig.advance(.milliseconds(99_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.powered"])
        rig.begin(id)
    }

    @Test func `the time begins when a request becomes due, without another event`() throws {
        let (rig, _) = try Self.foreign(["com.example.a.p1"])
        let launch = rig.run("com.example.b.p1")
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(40) }
        _ = rig.take()
        let wake = try #require(rig.wake.wall)
        let due = wake - rig.now.wall
        #expect(due >= .seconds(40) && due <= .seconds(50))
        rig.advance(due)
        #expect(rig.wake.boot == rig.now.boot + .seconds(300))
        rig.advance(.seconds(300))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    /// A host of two slots, in which `b` names tasks of `a`, and the limit is short.
    private static func narrow(own: [String] = []) throws -> SchedulerRig {
        let (_, manifests) = try Self.foreign(["com.example.a.powered", "com.example.a.p1"], own: own)
        var settings = SchedulerSettings.unpaced
        (settings.discretionarySlots, settings.conflictLimit) = (2, .seconds(300))
        return SchedulerRig(manifests, settings: settings)
    }

    @Test(arguments: [false, true])
    func `a bundle that fills all slots is stopped, too`(withVeto: Bool) throws {
        let rig = try Self.narrow()
        let launch = rig.run("com.example.b.p1")
        _ = rig.run("com.example.b.p2")
        if withVeto { Self.setPower(false, rig) }
        let name = withVeto ? "powered" : "p1"
        rig.submit(name)
        _ = rig.take()
        if withVeto {
            rig.advance(.seconds(100))
            Self.setPower(true, rig)
        }
        #expect(rig.wake.boot == rig.now.boot + .seconds(300))
        rig.advance(.seconds(300))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.\(name)"])
    }

    @Test func `a request that was pending before the launches fill all slots is found, too`() throws {
        let rig = try Self.narrow()
        Self.setPower(false, rig)
        rig.submit("powered")
        let launch = rig.run("com.example.b.p1")
        _ = rig.run("com.example.b.p2")
        _ = rig.take()
        Self.setPower(true, rig)
        #expect(rig.wake.boot == rig.now.boot + .seconds(300))
        rig.advance(.seconds(300))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `no launch is stopped in vain: neither beside one of the own bundle nor for a slot of others`()
        throws
    {
        let rig = try Self.narrow(own: ["com.example.a.p2"])
        let own = rig.run("p2")
        let foreign = rig.run("com.example.b.p1")
        rig.submit("p1")
        _ = rig.take()
        rig.advance(.seconds(599))
        #expect(rig.take() == [], "p2 of its own bundle holds it as well")
        rig.end(own)
        rig.advance(.zero)
        #expect(rig.take() == [.expire(foreign, .leaseEnded)])

        // A continued task holds a request whose slots are taken by a third bundle.
        let other = try Self.narrow()
        let film = other.run("com.example.b.p1")
        let third = other.run("com.example.c.p1")
        other.submit("p1")
        other.advance(.seconds(10))
        other.send(.settingsChanged(Self.oneSlot))
        _ = other.take()
        other.advance(.seconds(580))
        #expect(other.take() == [], "one slot is left, and the third bundle has it")
        other.end(third)
        other.advance(.zero)
        #expect(other.take() == [.expire(film, .leaseEnded)])
    }

    /// Otherwise, each of the two would wait for the other one to end first.
    @Test func `a conflicting launch and one in the slot end together, if the turns of both are over`() throws
    {
        let rig = try Self.narrow()
        let film = rig.run("com.example.b.p1")
        let third = rig.run("com.example.c.p1")
        rig.submit("p1")
        rig.advance(.seconds(10))
        rig.send(.settingsChanged(Self.oneSlot))
        rig.send(.launchActive(film))
        rig.send(.launchActive(third))
        _ = rig.take()
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("p1")))
        let forecast = rig.scheduler.forecast(request, from: ConditionHistory(), at: rig.now)
        #expect(forecast.unchanged == rig.now.wall + .seconds(590 + 10), "with the grace period")
        var foresight = Foresight(rig.scheduler, at: rig.now)
        #expect(foresight.outlook(of: request).holders.allSatisfy { $0.latestEnd == forecast.unchanged })
        rig.advance(.seconds(590))
        let ended = rig.take()
        #expect(ended.contains(.expire(film, .leaseEnded)) && ended.contains(.expire(third, .leaseEnded)))
        rig.end(film)
        rig.end(third)
        rig.advance(.zero)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    private static var oneSlot: SchedulerSettings {
        var settings = SchedulerSettings.unpaced
        (settings.discretionarySlots, settings.conflictLimit) = (1, .seconds(300))
        return settings
    }

    @Test func `of many requests that something else holds as well, each gets its claim in the end`() throws {
        let names = (0..<80).map { "w\($0)" }
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 9
        let manifest = Manifest.make("com.example.a") { manifest in
            for name in names {
                var task = TaskDeclaration(
                    pattern: try! IdentifierPattern("com.example.a.\(name)"), kind: .processing)
                task.constraints = TaskConstraints(conflicts: [Self.pattern("p2")])
                manifest.tasks.append(task)
            }
        }
        let rig = SchedulerRig([manifest], settings: settings)
        let launch = rig.run("p2")
        for name in names {
            rig.advance(.milliseconds(10))
            rig.submit(name) { $0.requiresExternalPower = true }
        }
        for _ in 0..<3 {
            Self.setPower(false, rig)
            rig.advance(.seconds(1))
            Self.setPower(true, rig)
            rig.advance(.seconds(1))
        }
        #expect(rig.scheduler.situation.claims.count == ConflictQueue.mostOfBundle)
        #expect(rig.scheduler.conflictQueue.entries.count <= 2 * ConflictQueue.mostOfBundle)
        #expect(rig.wake.boot == nil || rig.wake.boot! > rig.now.boot, "nothing is judged again and again")
        rig.end(launch)
        var started: [String] = []
        while true {
            let new = rig.takeAll().compactMap { action -> RequestID? in
                if case .launch(let id, _, _, _) = action { id } else { nil }
            }
            if new.isEmpty { break }
            started += new.map { rig.stored[$0]!.identifier.rawValue }
            for id in new { rig.end(rig.begin(id)) }
        }
        #expect(started.filter { $0.contains(".w") }.count == names.count)
    }

    @Test func `thousands that conflict with each other cost two looks when one of them ends`() throws {
        let manifest = Manifest.make("com.example.a") { manifest in
            for index in manifest.tasks.indices {
                manifest.tasks[index].constraints = TaskConstraints(
                    conflicts: [try! IdentifierPattern("com.example.a.*")])
            }
        }
        let rig = SchedulerRig([manifest])
        let ids = (0..<2000).map { rig.submit("export.film\($0)") }
        var launch = rig.begin(ids[0])
        _ = rig.take()
        for id in ids[1..<5] {
            rig.end(launch)
            #expect(
                rig.take().compactMap { if case .launch(let id, _, _, _) = $0 { id } else { nil } } == [id])
            // A pass that judged all of them would have reached its limit.
            #expect(!rig.scheduler.isPassCut)
            launch = rig.begin(id)
        }
        // A request of another group, and one that was withdrawn, do not disturb the order.
        rig.send(.withdrawn(ids[5]))
        rig.submit("p1")
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.export.film6"])
    }
}
