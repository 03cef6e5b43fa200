import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// `explain` must agree with the scheduler: the test applies each remedy that it names, and each must help.
@Suite struct RemedyTests {
    @Test(arguments: Seeds.of(1...60))
    func `a request starts exactly when explain has no veto left, and every act that it names removes one`(
        seed: Int
    ) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let manifest = Manifest.make("com.example.a") {
            $0.modes.insert(.remoteNotification)
            $0.tasks.append(
                TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.push"), kind: .push))
            $0.require(["docked"], of: "p1")
        }
        let rig = SchedulerRig([manifest])
        if seed % 3 != 0 { rig.change { $0.custom = ["docked": seed % 2 == 0 ? .unknown : .known(true)] } }
        spoil(rig, &numbers)
        let name =
            ["refresh", "p1", "powered", "networked", "push", "export.film"].randomElement(using: &numbers)
            ?? ""
        let id = rig.submit(name) {
            $0.requiresGPU = Int.random(in: 0..<5, using: &numbers) == 0
            if Bool.random(using: &numbers) { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
            if Int.random(in: 0..<4, using: &numbers) == 0 { $0.pushPriority = .immediate }
        }
        if Int.random(in: 0..<3, using: &numbers) == 0 { rig.send(.handlersChanged([])) }
        for _ in 0..<40 {
            let isPending = rig.scheduler.pendingRequest(of: .sample(name))?.id == id
            guard isPending else {
                #expect(rig.launched().last?.hasSuffix(name) == true, "seed \(seed): gone without a launch")
                return
            }
            let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
            #expect(!explanation.mayStart, "seed \(seed): explain says yes, and it waits")
            let veto = try #require(explanation.vetoes.randomElement(using: &numbers))
            let factor = try #require(rig.scheduler.blockingFactor(of: rig.stored[id]!, at: rig.now))
            #expect(explanation.vetoes.contains(factor), "seed \(seed)")
            try act(on: veto, of: id, rig)
            let after = rig.scheduler.explain(id, at: rig.now)
            #expect(
                after?.vetoes.contains { $0.policy == veto.policy && $0.rationale == veto.rationale } != true,
                "seed \(seed): \(veto.policy) did not mind its own remedy")
        }
        Issue.record("seed \(seed): it never started; \(rig.vetoes(name))")
    }

    /// Makes random conditions and settings bad.
    private func spoil(_ rig: SchedulerRig, _ numbers: inout SeededNumbers) {
        func maybe() -> Bool { Int.random(in: 0..<3, using: &numbers) == 0 }
        if maybe() {
            rig.begin(rig.submit("refresh"))
            rig.end(LaunchID(rawValue: 1))
        }
        if maybe() { for name in ["p7", "p8"] { rig.begin(rig.submit(name)) } }
        rig.change {
            if maybe() { $0.power = PolicyTests.battery(Int.random(in: 11...60, using: &numbers)) }
            if maybe() { $0.power = .unknown }
            if maybe() {
                $0.network = .known(NetworkCondition.allCases.randomElement(using: &numbers) ?? .none)
            }
            if maybe() { $0.network = .unknown }
            if maybe() {
                $0.thermal = .known(ThermalCondition.allCases.randomElement(using: &numbers) ?? .fair)
            }
            if maybe() { $0.thermal = .unknown }
            if maybe() { $0.lowPowerMode = .known(true) }
            if maybe() { $0.user = Bool.random(using: &numbers) ? .known(.active) : .unknown }
            if maybe() { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: true)) }
            if maybe() { $0.gpu = .known(true) }
        }
        if maybe() { rig.send(.preparingForSleep(true)) }
        if maybe() { rig.send(.dismissed(.sample)) }
        if maybe() { rig.send(.refreshSwitched(.sample, .denied)) }
        if maybe() { rig.send(.budgetChanged(.sample, launches: 0, cpu: .zero)) }
        _ = rig.take()
    }

    private func act(on veto: Verdict, of id: RequestID, _ rig: SchedulerRig) throws {
        let rationale = try #require(veto.rationale.first)
        #expect(rationale.remedy != nil || rationale.earliestChange != nil, "\(veto.policy) names no help")
        switch veto.policy {
        case "EarliestBeginDate", "RateLimit", "Score":
            let date = try #require(rationale.earliestChange)
            rig.advance(date - rig.now.wall)
        case "Budget":
            // These budgets are 0, so nothing changes by itself.
            #expect(rationale.earliestChange == nil)
            rig.send(.budgetChanged(.sample, launches: nil, cpu: nil))
        case "ExternalPower", "BatteryLevel": rig.change { $0.power = .known(.mains) }
        case "Network": rig.change { $0.network = .known(.unmetered) }
        case "SystemSleep": rig.send(.preparingForSleep(false))
        case "Resources": rig.change { $0.gpu = .known(true) }
        case "RequiredConditions": rig.change { $0.custom["docked"] = .known(true) }
        case "LowPowerMode": rig.change { $0.lowPowerMode = .known(false) }
        case "Pressure":
            if let date = rationale.earliestChange, rig.now.monotonic.wholeMilliseconds % 2 == 0 {
                rig.advance(date - rig.now.wall)
            } else {
                rig.change { $0.pressure = .known(.none) }
            }
        case "Thermal": rig.change { $0.thermal = .known(.nominal) }
        case "DeviceActivity": rig.change { $0.user = .known(.idle) }
        case "RefreshAllowed": rig.send(.refreshSwitched(.sample, .available))
        case "Dismissed": rig.send(.used(.sample))
        case "Concurrency":
            let launch = try #require(rig.running.keys.min())
            // If only the slot is missing, its remedy must help: `bgtask expire`, which puts the other
            // request back without a back-off.
            guard rig.scheduler.explain(id, at: rig.now)?.vetoes.count == 1, var back = rig.running[launch]
            else { return rig.end(launch) }
            rig.send(.expireRequested(launch, .simulated))
            back.putBack(PutBack(notBefore: nil), at: rig.now.wall)
            rig.end(launch, putBack: back)
        case "OneLaunchPerIdentifier":
            let launch = try #require(rig.running.keys.min())
            rig.end(launch)
        case "Permission":
            rig.send(
                .handlersChanged([
                    .make("com.example.a") {
                        $0.modes.insert(.remoteNotification)
                        $0.tasks.append(
                            TaskDeclaration(
                                pattern: try! IdentifierPattern("com.example.a.push"), kind: .push))
                    }
                ]))
        default: Issue.record("\(veto.policy) has no act in this test")
        }
    }
}
