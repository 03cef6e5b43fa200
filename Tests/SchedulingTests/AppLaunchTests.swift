import TaskModel
import Testing

@testable import Scheduling

/// Launches of apps: they are not deferrable, and their number is limited.
@Suite struct AppLaunchTests {
    private static func app(_ bundle: String) -> Manifest {
        .make(bundle) { $0.appLaunch = try? TaskIdentifier(bundle) }
    }

    @Test func `an app is launched at once where deferrable work waits`() {
        let rig = SchedulerRig([Self.app("com.example.a")])
        rig.change {
            $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 5))
            $0.lowPowerMode = .known(true)
            $0.user = .known(.active)
            $0.thermal = .known(.serious)
        }
        rig.send(.refreshSwitched(.sample, .denied))
        rig.send(.dismissed(.sample))
        let launch = rig.run("com.example.a")
        rig.submit("p1")
        #expect(rig.launched() == ["com.example.a"])
        rig.change { $0.thermal = .known(.critical) }
        #expect(rig.take() == [.expire(launch, .thermal)])
    }

    @Test func `two apps are launched at once, one of a bundle, and urgent pushes have slots of their own`() {
        let names = ["com.example.a", "com.example.b", "com.example.c"]
        let rig = SchedulerRig(
            names.map { name in
                var manifest = Self.app(name)
                manifest.modes.insert(.remoteNotification)
                manifest.tasks.append(
                    TaskDeclaration(pattern: try! IdentifierPattern("\(name).push"), kind: .push))
                return manifest
            })
        let first = rig.run("com.example.a")
        rig.submit("com.example.a")
        _ = rig.run("com.example.b")
        rig.submit("com.example.c")
        rig.submit("push") { $0.pushPriority = .immediate }
        #expect(rig.launched() == ["com.example.a", "com.example.b", "com.example.a.push"])
        #expect(rig.vetoes("com.example.a") == ["OneLaunchPerIdentifier", "Concurrency"])
        #expect(rig.vetoes("com.example.c") == ["Concurrency"])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a"])
    }

    @Test func `the waiting launch of a library that is no app any more is cancelled`() {
        let names = ["com.example.a", "com.example.b", "com.example.c"]
        let rig = SchedulerRig(names.map(Self.app))
        for name in names { rig.submit(name) }
        #expect(rig.launched() == ["com.example.a", "com.example.b"])
        rig.send(.handlersChanged([Self.app(names[0]), Self.app(names[1])]))
        #expect(rig.take() == [])
        rig.send(.handlersChanged([Self.app(names[0]), Self.app(names[1]), .make(names[2])]))
        #expect(rig.take() == [.cancelRequest(RequestID(rawValue: 3), .manifestRemoved)])
    }

    @Test func `neither a handler nor a schedule launches an app`() {
        let rig = SchedulerRig([Self.app("com.example.a")])
        for origin in RequestOrigin.allCases {
            let submission = TaskSubmission(identifier: .sample("com.example.a"), origin: origin)
            let isRefused =
                (try? rig.scheduler.admit(submission, at: rig.now)) == nil
            #expect(isRefused == (origin == .handler || origin == .schedule), "\(origin)")
        }
    }
}
