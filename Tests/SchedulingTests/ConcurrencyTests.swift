import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct ConcurrencyTests {
    @Test func `two launches of one identifier never run at once`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        rig.submit("p1")
        _ = rig.take()
        #expect(rig.vetoes("p1") == ["OneLaunchPerIdentifier"])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `two processing launches run at once, and the third starts when one ends`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("p2")
        rig.submit("p3")
        _ = rig.take()
        #expect(rig.vetoes("p3") == ["Concurrency"])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p3"])
    }

    @Test func `work of hours keeps no refresh waiting, unless the machine is warm`() {
        let rig = SchedulerRig()
        _ = (rig.run("p1"), rig.run("p2"))
        _ = rig.take()
        let refresh = rig.run("refresh")
        #expect(rig.launched() == ["com.example.a.refresh"])
        rig.end(refresh)
        rig.change { $0.thermal = .known(.fair) }
        rig.advance(.seconds(900))
        rig.submit("refresh")
        #expect(rig.launched() == [])
        #expect(rig.vetoes("refresh") == ["Thermal"])
    }

    @Test func `a thousand that are due at once start bundle by bundle in turn`() {
        let names = (10..<20).map { "com.example.b\($0)" }
        let rig = SchedulerRig(
            names.map { name in
                .make(name) { manifest in
                    manifest.tasks = (1...100).map {
                        TaskDeclaration(pattern: try! IdentifierPattern("\(name).w\($0)"), kind: .processing)
                    }
                }
            })
        rig.change { $0.lowPowerMode = .known(true) }
        for name in names { for number in 1...100 { rig.submit("\(name).w\(number)") } }
        rig.change { $0.lowPowerMode = .known(false) }
        var counts: [String: Int] = [:]
        var launches = 0
        while launches < 500 {
            let begun = rig.take().compactMap { action in
                if case .launch(let id, _, _, _) = action { id } else { nil }
            }
            if begun.isEmpty { break }
            for id in begun {
                launches += 1
                counts[rig.stored[id]?.bundle.rawValue ?? "", default: 0] += 1
                let launch = rig.begin(id)
                rig.moments.advance(by: .seconds(1))
                rig.end(launch)
            }
        }
        #expect(counts.count == 10)
        #expect(counts.values.allSatisfy { (48...52).contains($0) }, "\(counts)")
    }

    @Test func `of two bundles, the one that used less CPU time has the next slot, and a day forgets half`() {
        var greedy = ServiceAccount(), modest = ServiceAccount()
        let start = WallTime(sinceEpoch: .seconds(1_800_000_000))
        greedy.add(cpu: .seconds(90), at: start)
        modest.add(cpu: .zero, at: start)
        #expect(modest.rank < greedy.rank)
        #expect(greedy.seconds == 100)
        modest.add(cpu: .seconds(50), at: start + .seconds(86_400))
        // A launch counts as its CPU time plus 10 s, and a day halves what was counted. So `modest` has 5 s
        // left of 10 s, plus 60 s; `greedy` has 50 s left of 100 s.
        #expect(abs(modest.seconds - 65) < 1e-9)
        #expect(modest.rank > greedy.rank)
        #expect(ServiceAccount().rank < modest.rank)
        // A clock that was set back makes nothing older.
        let before = modest.rank
        modest.add(cpu: .zero, at: start)
        #expect(modest.rank > before)
    }

    @Test func `long work of a bundle does not take the turn of its short work, nor the reverse`() {
        for (busy, waiting) in [("p1", "refresh"), ("refresh", "p1")] {
            var settings = SchedulerSettings.unpaced
            (settings.discretionarySlots, settings.shortSlots) = (1, 1)
            let rig = SchedulerRig(
                [.make("com.example.a"), .make("com.example.b"), .make("com.example.c")], settings: settings)
            // Both bundles have the same service in the lane of `waiting`; only `a` has more in the other
            // one.
            for bundle in ["com.example.a", "com.example.b"] { rig.end(rig.run("\(bundle).\(waiting)")) }
            rig.end(rig.run("com.example.a.\(busy)"))
            // No rate holds the next refresh then.
            rig.advance(.seconds(3600))
            let holder = rig.run("com.example.c.\(waiting)")
            _ = rig.take()
            rig.submit("com.example.a.\(waiting)")
            rig.submit("com.example.b.\(waiting)")
            rig.end(holder)
            #expect(rig.launched() == ["com.example.a.\(waiting)"], "\(waiting): the older one of equals")
        }
    }

    @Test func `three continued launches run beside them, in the order of their submission`() {
        let rig = SchedulerRig()
        _ = (rig.run("p1"), rig.run("p2"))
        _ = rig.take()
        for name in ["d", "c", "b", "a"] { rig.submit("export.\(name)") }
        #expect(
            rig.launched() == ["com.example.a.export.d", "com.example.a.export.c", "com.example.a.export.b"])
        #expect(rig.vetoes("export.a") == ["Concurrency"])
    }

    @Test func `while another bundle waits, a bundle has one launch`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        let first = rig.run("com.example.b.p1")
        let second = rig.run("com.example.b.p2")
        rig.submit("p1")
        rig.submit("p2")
        rig.submit("com.example.b.p3")
        _ = rig.take()
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(second)
        // Bundle b now has no running launch, so its p3 comes before p2 of bundle a, which is older.
        #expect(rig.launched() == ["com.example.b.p3"])
    }

    @Test func `a bundle that waits for power does not keep a slot empty`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        rig.change { $0.power = .unknown }
        rig.submit("com.example.b.powered")
        rig.submit("p1")
        rig.submit("p2")
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.p2"])
    }

    @Test func `the slot goes to the request whose deadline comes first, then to the oldest`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("p2")
        rig.submit("p3")
        rig.submit("p4")
        rig.store(
            TaskSubmission(identifier: .sample("p5"), origin: .schedule),
            deadline: rig.now.wall + .seconds(60))
        _ = rig.take()
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p5"])
    }

    @Test func `a simulated launch takes no free slot to start, but holds one`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("p2")
        let third = rig.submit("p3")
        rig.send(.simulate(third))
        _ = rig.begin(third)
        rig.submit("p4")
        _ = rig.take()
        rig.end(first)
        #expect(rig.take() == [])
        #expect(rig.vetoes("p4") == ["Concurrency"])
    }

    @Test(arguments: [ThermalCondition.nominal, .fair])
    func `where no slot is granted the remedy is the setting, not to wait`(thermal: ThermalCondition) throws {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 0
        let rig = SchedulerRig(settings: settings)
        rig.change { $0.thermal = .known(thermal) }
        let id = rig.submit("p1")
        let vetoes = try #require(rig.scheduler.explain(id, at: rig.now)).vetoes
        #expect(vetoes.contains { $0.policy == "Concurrency" })
        for veto in vetoes {
            #expect(
                veto.rationale.first?.remedy
                    == "Set scheduling.discretionarySlots to 1 or more in the host's configuration; with 0, no such launch ever starts",
                "\(veto.policy)")
        }
    }
}
