import HandlerRegistry
import Launching
import Scheduling
import TaskModel

@testable import HostCore

/// One reason, or several, why a request waits.
struct WaitingSituation: CustomStringConvertible, Sendable {
    /// A few words for the list of headlines.
    let description: String
    /// Brings it about; the request that waits is that of ``SituationRig/task``.
    let prepare: @Sendable (inout SituationRig) throws -> Void

    init(_ description: String, _ prepare: @escaping @Sendable (inout SituationRig) throws -> Void) {
        self.description = description
        self.prepare = prepare
    }

    /// A task of its own with a `when`, and other requirements.
    static func mixed(
        _ description: String, _ when: String,
        _ require: @escaping @Sendable (inout TaskDeclaration) -> Void = { _ in },
        _ change: @escaping @Sendable (inout Conditions) -> Void
    ) -> WaitingSituation {
        .init(description) { rig in
            var task = TaskDeclaration(
                pattern: try IdentifierPattern("\(SituationRig.bundle).mixed"), kind: .processing)
            task.ignoresDeviceActivity = true
            task.constraints = TaskConstraints(when: try WhenExpression(when, payload: [:]))
            require(&task)
            var handler = SituationRig.handler("photos")
            handler.manifest.tasks = [task]
            try rig.install([handler])
            try rig.change(change)
            try rig.ask("mixed")
        }
    }

    static func battery(_ percent: Int) -> Reading<PowerCondition> {
        .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: percent))
    }

    /// All situations, in the order of Documentation/Headlines.md.
    static let all = machine + conditions + manifests + dates + bundles + slots + several + far + past

    static func charging(_ percent: Int) -> Reading<PowerCondition> {
        .known(PowerCondition(externalPower: true, isCharging: true, batteryPercent: percent))
    }

    static let machine: [WaitingSituation] = [
        .init("on battery, and the task requires power") { rig in
            try rig.change { $0.power = battery(80) }
            try rig.ask("cleanup")
        },
        .init("the source of power does not answer") { rig in
            try rig.change { $0.power = .unknown }
            try rig.ask("cleanup")
        },
        .init("the battery is at 15 %") { rig in
            try rig.change { $0.power = battery(15) }
            try rig.ask("refresh")
        },
        .init("the battery is at 5 %, and a refresh waits") { rig in
            try rig.change { $0.power = battery(5) }
            try rig.ask("refresh")
        },
        .init("the battery is low, and the task requires power") { rig in
            try rig.change { $0.power = battery(12) }
            try rig.ask("cleanup")
        },
        .init("no network") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("sync")
        },
        .init("no network, and the task requires an unmetered one") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("upload")
        },
        .init("a metered network") { rig in
            try rig.change { $0.network = .known(.metered) }
            try rig.ask("upload")
        },
        .init("low-data mode, and a refresh needs the network") { rig in
            try rig.change { $0.network = .known(.constrained) }
            try rig.ask("sync")
        },
        .init("low-data mode, and the task requires an unmetered network") { rig in
            try rig.change { $0.network = .known(.constrained) }
            try rig.ask("upload")
        },
        .init("the source of the network does not answer") { rig in
            try rig.change { $0.network = .unknown }
            try rig.ask("sync")
        },
        .init("a continued task needs a network") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("export") { $0.requiresNetworkConnectivity = true }
        },
        .init("the user works") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("index")
        },
        .init("the source of user activity does not answer") { rig in
            try rig.change { $0.user = .unknown }
            try rig.ask("index")
        },
        .init("low-power mode") { rig in
            try rig.change { $0.lowPowerMode = .known(true) }
            try rig.ask("refresh")
        },
        .init("the processor is busy") { rig in
            try rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: false)) }
            try rig.ask("index")
        },
        .init("the disks are busy") { rig in
            try rig.change { $0.pressure = .known(PressureCondition(cpu: false, memory: false, io: true)) }
            try rig.ask("refresh")
        },
        .init("memory is short") { rig in
            try rig.change { $0.pressure = .known(PressureCondition(cpu: false, memory: true, io: false)) }
            try rig.ask("index")
        },
        .init("the processor has been busy for 40 min, and another launch runs") { rig in
            try rig.submit("export")
            try rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: false)) }
            try rig.pass(.seconds(2400))
            try rig.submit("mail.index")
            try rig.ask("index")
        },
        .init("the machine is hot") { rig in
            try rig.change { $0.thermal = .known(.serious) }
            try rig.ask("index")
        },
        .init("the machine is too hot for anything") { rig in
            try rig.change { $0.thermal = .known(.critical) }
            try rig.ask("export")
        },
        .init("the machine is warm, and another deferrable launch runs") { rig in
            try rig.change { $0.thermal = .known(.fair) }
            try rig.submit("mail.index")
            try rig.ask("index")
        },
        .init("the source of heat does not answer, and another deferrable launch runs") { rig in
            try rig.change { $0.thermal = .unknown }
            try rig.submit("mail.index")
            try rig.ask("index")
        },
        .init("the machine prepares to sleep") { rig in
            rig.world.inputs.append(.willSleep)
            try rig.calm()
            try rig.ask("index")
        },
        .init("the GPU is gone") { rig in
            try rig.change {
                $0.gpu = .known(true)
                $0.network = .known(.none)
            }
            try rig.ask("export") {
                $0.requiresGPU = true
                $0.requiresNetworkConnectivity = true
            }
            try rig.change {
                $0.gpu = .known(false)
                $0.network = .known(.unmetered)
            }
        },
    ]

    static let conditions: [WaitingSituation] = [
        .init("a custom condition is off") { rig in
            try rig.change { $0.custom["docked"] = .known(false) }
            try rig.ask("dock")
        },
        .init("a custom condition is unknown") { rig in
            try rig.change { $0.custom["docked"] = .unknown }
            try rig.ask("dock")
        },
        .init("a custom condition is not defined") { rig in try rig.ask("dock") },
        .init("two custom conditions are off") { rig in
            try rig.change { $0.custom = ["docked": .known(false), "vpn": .known(false)] }
            try rig.ask("office")
        },
        .init("one of two custom conditions is off") { rig in
            try rig.change { $0.custom = ["docked": .known(true), "vpn": .known(false)] }
            try rig.ask("office")
        },
    ]

    static let dates: [WaitingSituation] = [
        .init("it may begin in 2 h") { rig in
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(7200) }
        },
        .init("it may begin in three days") { rig in
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(3 * 86_400) }
        },
        .init("it may begin in 40 s") { rig in
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(40) }
        },
        .init("an attempt without progress used its lease") { rig in
            try rig.ask("index")
            try rig.call(.expire(.identifier(rig.task), .leaseEnded))
        },
        .init("three attempts without progress") { rig in
            try rig.ask("index")
            for _ in 0..<3 {
                try rig.pass(.seconds(120))
                try rig.call(.expire(.identifier(rig.task), .leaseEnded))
            }
        },
        .init("the wall clock was set back by an hour") { rig in
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(600) }
            rig.world.setClock(.seconds(-3600))
            try rig.calm()
        },
        .init("the bundle was refreshed just now") { rig in
            try rig.submit("refresh")
            try rig.end("refresh", succeeded)
            try rig.pass(.seconds(70))
            try rig.ask("sync")
        },
        .init("the same task was launched just now") { rig in
            try rig.submit("events")
            try rig.end("events", succeeded)
            try rig.ask("events")
        },
        .init("a push came just now") { rig in
            try rig.call(.push(PushOrder(to: SituationRig.bundle, payload: nil, .considerate)))
            try rig.end("push", succeeded)
            try rig.call(.push(PushOrder(to: SituationRig.bundle, payload: nil, .considerate)))
            rig.task = SituationRig.identifier("push")
        },
    ]

    static let succeeded: LaunchEnd = {
        var end = LaunchEnd(outcome: .succeeded, reason: nil)
        end.completion = true
        return end
    }()

    static let bundles: [WaitingSituation] = [
        .init("the user dismissed the bundle") { rig in
            try rig.call(.change(SituationRig.bundle, .dismissed))
            try rig.ask("refresh")
        },
        .init("the user came back, and background refresh is denied") { rig in
            try rig.ask("index")
            try rig.call(.change(SituationRig.bundle, .refresh(.denied)))
            try rig.change { $0.user = .known(.active) }
        },
        .init("background refresh is denied for the bundle") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("sync")
            try rig.call(.change(SituationRig.bundle, .refresh(.denied)))
            try rig.change { $0.network = .known(.unmetered) }
        },
        .init("background refresh is off for the host") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("sync")
            try rig.settings { $0.refresh = .denied }
            try rig.change { $0.network = .known(.unmetered) }
        },
        .init("the administrator restricted the bundle") { rig in
            try rig.change { $0.network = .known(.none) }
            try rig.ask("sync")
            try rig.settings { $0.bundleRefresh[SituationRig.bundle] = .restricted }
            try rig.change { $0.network = .known(.unmetered) }
        },
        .init("the day's refresh launches are used up") { rig in
            try rig.call(.change(SituationRig.bundle, .budget(launches: 0, cpu: nil)))
            try rig.ask("refresh")
        },
        .init("the day's CPU time is used up") { rig in
            try rig.call(.change(SituationRig.bundle, .budget(launches: nil, cpu: .zero)))
            try rig.ask("index")
        },
        .init("both budgets are used up") { rig in
            try rig.call(.change(SituationRig.bundle, .budget(launches: 0, cpu: .zero)))
            try rig.ask("refresh")
        },
        .init("the manifest was removed") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("index")
            try rig.install([SituationRig.handler("mail"), SituationRig.handler("feed")])
        },
        .init("the manifest has another kind now") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("index")
            try rig.install([SituationRig.handler("photos", indexKind: .activity)])
        },
        .init("the manifest lost the mode") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("index")
            try rig.install([SituationRig.handler("photos", modes: [.fetch])])
        },
    ]

    static let slots: [WaitingSituation] = [
        .init("both long slots are taken") { rig in
            try rig.submit("mail.index")
            try rig.submit("feed.index")
            try rig.ask("index")
        },
        .init("both short slots are taken") { rig in
            try rig.submit("mail.refresh")
            try rig.submit("feed.refresh")
            try rig.ask("refresh")
        },
        .init("three continued tasks run") { rig in
            for name in ["export", "render", "convert"] { try rig.submit("mail.\(name)") }
            try rig.ask("export")
        },
        .init("both long slots are taken, and another bundle goes first") { rig in
            try rig.submit("photos.index")
            try rig.submit("photos.tidy")
            try rig.submit("mail.index")
            try rig.ask("quiet")
        },
        .init("the launches in both slots are stopping") { rig in
            rig.endsExpired = false
            try rig.submit("mail.index")
            try rig.submit("feed.index")
            try rig.call(.expire(.identifier(SituationRig.identifier("mail.index")), .simulated))
            try rig.call(.expire(.identifier(SituationRig.identifier("feed.index")), .simulated))
            try rig.ask("index")
        },
        .init("both long slots are taken, another bundle goes first, and it was put back") { rig in
            try rig.submit("photos.index")
            try rig.submit("photos.tidy")
            try rig.ask("quiet")
            rig.endsExpired = false
            try rig.submit("mail.index")
            rig.endsExpired = true
            try rig.call(.expire(.identifier(SituationRig.identifier("photos.index")), .leaseEnded))
            try rig.ask("index")
        },
        .init("no long slot is configured") { rig in
            try rig.settings { $0.discretionarySlots = 0 }
            try rig.ask("index")
        },
        .init("the task runs already") { rig in
            try rig.submit("export")
            try rig.ask("export")
        },
        .init("the task runs already, and is stopping") { rig in
            rig.endsExpired = false
            try rig.submit("export")
            try rig.call(.expire(.identifier(SituationRig.identifier("export")), .simulated))
            try rig.ask("export")
        },
        .init("bgtask launch while the machine prepares to sleep") { rig in
            rig.world.inputs.append(.willSleep)
            try rig.calm()
            try rig.ask("index")
            try rig.call(.simulate(SituationRig.identifier("index"), debug: false))
        },
    ]

    static let several: [WaitingSituation] = [
        .init("on battery, and the user works") { rig in
            try rig.change {
                $0.power = battery(80)
                $0.user = .known(.active)
            }
            try rig.ask("cleanup")
        },
        .init("on battery, no network, and the user works") { rig in
            try rig.change {
                $0.power = battery(80)
                $0.user = .known(.active)
                $0.network = .known(.none)
            }
            try rig.ask("upload") { $0.requiresExternalPower = true }
        },
        .init("on battery, and it may begin in 2 h") { rig in
            try rig.change { $0.power = battery(80) }
            let now = rig.world.now.wall
            try rig.ask("cleanup") { $0.earliestBeginDate = now + .seconds(7200) }
        },
        .init("on battery, and both slots are taken") { rig in
            try rig.submit("mail.quiet")
            try rig.submit("feed.quiet")
            try rig.change { $0.power = battery(80) }
            try rig.ask("cleanup")
        },
        .init("on battery, and the source of user activity does not answer") { rig in
            try rig.change {
                $0.power = battery(80)
                $0.user = .unknown
            }
            try rig.ask("cleanup")
        },
        .init("on battery, and the machine prepares to sleep") { rig in
            try rig.change { $0.power = battery(80) }
            rig.world.inputs.append(.willSleep)
            try rig.calm()
            try rig.ask("cleanup")
        },
        .init("low-power mode on a low battery") { rig in
            try rig.change {
                $0.power = battery(12)
                $0.lowPowerMode = .known(true)
            }
            try rig.ask("refresh")
        },
        .init("dismissed, and the day's refresh launches are used up") { rig in
            try rig.call(.change(SituationRig.bundle, .dismissed))
            try rig.call(.change(SituationRig.bundle, .budget(launches: 0, cpu: nil)))
            try rig.ask("refresh")
        },
        .init("two requests wait for power, and one slot is left") { rig in
            try rig.submit("mail.quiet")
            try rig.change { $0.power = battery(80) }
            try rig.submit("feed.cleanup")
            try rig.ask("cleanup")
        },
        .init("the score is too low on battery, while the user works") { rig in
            try rig.change {
                $0.power = battery(40)
                $0.user = .known(.active)
            }
            try rig.ask("refresh")
        },
        .init("the score is too low, and the machine is warm") { rig in
            try rig.change {
                $0.power = battery(20)
                $0.user = .known(.active)
                $0.thermal = .known(.fair)
            }
            try rig.ask("tidy")
        },
        .init("the score is too low on a metered network") { rig in
            try rig.change {
                $0.power = battery(30)
                $0.user = .known(.active)
                $0.network = .known(.metered)
            }
            try rig.ask("sync")
        },
        .init("all sensors are lost") { rig in
            try rig.change {
                $0.power = .unknown
                $0.user = .unknown
                $0.network = .unknown
                $0.thermal = .unknown
                $0.pressure = .unknown
                $0.lowPowerMode = .unknown
            }
            try rig.ask("upload") { $0.requiresExternalPower = true }
        },
    ]

    static let manifests: [WaitingSituation] = [
        .init("there is too little free space, and the user works") { rig in
            try rig.change {
                $0.storage = .known(.gibibytes(1))
                $0.user = .known(.active)
            }
            try rig.ask("copy")
        },
        .init("the free space is unknown, and the user works") { rig in
            try rig.change {
                $0.storage = .unknown
                $0.user = .known(.active)
            }
            try rig.ask("copy")
        },
        .init("its manifest requires a charge of 60 %") { rig in
            try rig.change { $0.power = battery(50) }
            try rig.ask("scan")
        },
        .init("it is not an hour of between") { rig in try rig.ask("night") },
        .init("it is not an hour of between, and the user works") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("night")
        },
        .init("when asks for one of two, and the user works") { rig in
            try rig.change {
                $0.power = battery(50)
                $0.user = .known(.active)
            }
            try rig.ask("either")
        },
        .init("when asks for two") { rig in
            try rig.change {
                $0.power = battery(50)
                $0.network = .known(.metered)
            }
            try rig.ask("both")
        },
        .init("when asks for an hour, and it is on battery") { rig in
            try rig.change { $0.power = battery(50) }
            try rig.ask("late")
        },
        .init("when asks for a network or a condition") { rig in
            try rig.change {
                $0.network = .known(.metered)
                $0.custom["docked"] = .known(false)
            }
            try rig.ask("choice")
        },
        .init("when asks for one of two conditions") { rig in
            try rig.change { $0.custom = ["docked": .known(false), "vpn": .known(false)] }
            try rig.ask("conditions")
        },
        .init("when asks for two facts, or for two others") { rig in
            try rig.change {
                $0.power = battery(50)
                $0.network = .known(.metered)
                $0.custom = ["docked": .known(false), "vpn": .known(false)]
            }
            try rig.ask("sets")
        },
        .init("when asks for an hour, or for two facts") { rig in
            try rig.change {
                $0.power = battery(50)
                $0.custom["docked"] = .known(false)
            }
            try rig.ask("mixed")
        },
        .init("when asks for the contrary of most tasks") { rig in try rig.ask("contrary") },
        .init("when asks for a metered network") { rig in try rig.ask("metered") },
        .init("when can never be true") { rig in try rig.ask("never") },
        .init("when can never be true, and the machine is hot and the user works") { rig in
            try rig.change {
                $0.thermal = .known(.serious)
                $0.user = .known(.active)
            }
            try rig.ask("never")
        },
        .init("when can never be true with the payload") { rig in
            try rig.ask("urgent") { $0.payload = #"{"urgent": false}"# }
        },
        .init("when asks for a sensor that does not answer") { rig in
            try rig.change { $0.power = .unknown }
            try rig.ask("either")
        },
        .init("five launches crashed, and it is on battery") { rig in
            for _ in 0..<5 {
                try rig.submit("export")
                try rig.end("export", LaunchEnd(outcome: .crashed, reason: .signal))
                try rig.pass(.seconds(11))
            }
            try rig.change { $0.power = battery(50) }
            try rig.ask("cleanup")
        },
        .init("when asks for a network or a condition, which no file defines") { rig in
            try rig.change { $0.network = .known(.metered) }
            try rig.ask("choice")
        },
        .init("when asks for conditions that no file defines") { rig in try rig.ask("conditions") },
        .init("when asks for a condition that is unknown") { rig in
            try rig.change {
                $0.network = .known(.metered)
                $0.custom = ["docked": .unknown, "vpn": .unknown]
            }
            try rig.ask("conditions")
        },
        .init("a task of another bundle runs, whose manifest states the conflict") { rig in
            try rig.submit("mail.hog")
            try rig.ask("print")
        },
        .init("five launches of the bundle crashed") { rig in
            for _ in 0..<5 {
                try rig.submit("export")
                try rig.end("export", LaunchEnd(outcome: .crashed, reason: .signal))
                try rig.pass(.seconds(11))
            }
            try rig.ask("index")
        },
        .init("a conflicting task waits, too, and has waited longer") { rig in
            try rig.submit("export")
            try rig.submit("rival")
            try rig.ask("third")
        },
        .init("when contradicts another requirement, which is fulfilled") { rig in try rig.ask("roam") },
        .init("when contradicts another requirement, which is not fulfilled") { rig in
            try rig.change { $0.power = battery(80) }
            try rig.ask("roam")
        },
        .init("when asks for an hour and a condition") { rig in
            try rig.change { $0.custom["docked"] = .known(false) }
            try rig.ask("duty")
        },
        .init("when asks for a low battery, on external power") { rig in
            try rig.change { $0.power = charging(80) }
            try rig.ask("low")
        },
        .init("when asks for a low battery, and there is none") { rig in try rig.ask("low") },
        .init("when asks for a warm machine") { rig in try rig.ask("warm") },
        .init("when asks for a warm machine, and it is hot") { rig in
            try rig.change { $0.thermal = .known(.serious) }
            try rig.ask("warm")
        },
        .init("when asks for a busy processor") { rig in try rig.ask("busy") },
        .init("when asks for a busy processor, and it is busy") { rig in
            try rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: false)) }
            try rig.ask("busy")
        },
        .mixed(
            "when asks for an hour and a busy processor, and the disks are busy", "hour == 17 and cpuPressure"
        ) {
            $0.pressure = .known(PressureCondition(cpu: false, memory: false, io: true))
        },
        .mixed("when asks for an hour and a warm machine, and it is hot", "hour == 17 and thermal == fair") {
            $0.thermal = .known(.serious)
        },
        .mixed(
            "when asks for no power or a condition, on mains", "not externalPower or condition.docked",
            { $0.constraints?.battery = 80 }, { $0.custom = ["docked": .known(false)] }),
        .mixed(
            "when asks for no power, and the task for a charge, on mains", "not externalPower",
            { $0.constraints?.battery = 80 }, { _ in }),
        .mixed("when asks for a low battery or a condition", "battery < 10 or condition.docked") {
            $0.power = charging(60)
            $0.custom = ["docked": .known(false)]
        },
        .mixed(
            "when asks for a low battery, and the task for power", "battery < 10",
            { $0.requiresExternalPower = true }, { $0.power = battery(50) }),
        .mixed(
            "three requirements ask for the source of power, which does not answer", "battery >= 40",
            {
                $0.requiresExternalPower = true
                $0.constraints?.battery = 80
            }, { $0.power = .unknown }),
        .mixed(
            "when asks for space or a charge, and the source of power does not answer",
            "storage > 200GiB or battery < 80 and condition.docked",
            { $0.constraints?.battery = 80 },
            {
                $0.power = .unknown
                $0.storage = .known(.gibibytes(100))
                $0.custom = ["docked": .known(false)]
            }),
        .mixed(
            "when asks for no power and a charge, and there is no battery",
            "battery != 80 and not externalPower and network == metered",
            { $0.constraints?.between = DailyWindow(start: 22 * 60, end: 6 * 60) }, { _ in }),
        .init("several requests wait for a condition, and the others come first") { rig in
            try rig.change { $0.custom = ["docked": .known(false)] }
            for name in ["mail.dock", "feed.dock", "mail.many", "feed.many", "dock"] { try rig.submit(name) }
            try rig.ask("many")
        },
        .init("when asks for a battery that does not charge") { rig in
            try rig.change { $0.power = charging(80) }
            try rig.ask("still")
        },
        .init("when asks for one charge of the battery") { rig in
            try rig.change { $0.power = battery(80) }
            try rig.ask("half")
        },
        .init("when asks for one charge of the battery, which is lower") { rig in
            try rig.change { $0.power = battery(40) }
            try rig.ask("half")
        },
        .init("when asks for any charge but the present one") { rig in
            try rig.change { $0.power = charging(60) }
            try rig.ask("other")
        },
        .init("when asks for any charge but the present one, on battery") { rig in
            try rig.change { $0.power = battery(60) }
            try rig.ask("other")
        },
        .init("when can never be true with the payload, and it is on battery") { rig in
            try rig.change { $0.power = battery(60) }
            try rig.ask("urgent") { $0.payload = #"{"album": ["a", "b"], "urgent": false}"# }
        },
        .init("when asks for a GPU, and there is none") { rig in
            try rig.change { $0.gpu = .known(false) }
            try rig.ask("shade")
        },
        .init("a custom condition is unknown, and both slots are taken") { rig in
            try rig.submit("mail.index")
            try rig.submit("feed.index")
            try rig.change { $0.custom["docked"] = .unknown }
            try rig.ask("dock")
        },
        .init("a custom condition is unknown, both slots are taken, and another bundle goes first") { rig in
            try rig.submit("photos.index")
            try rig.submit("photos.tidy")
            try rig.submit("mail.index")
            try rig.change { $0.custom["docked"] = .unknown }
            try rig.ask("dock")
        },
        .init("the GPU is gone, and both slots are taken") { rig in
            try rig.submit("mail.index")
            try rig.submit("feed.index")
            try rig.change { $0.gpu = .known(true) }
            try rig.ask("cleanup") { $0.requiresGPU = true }
            try rig.change { $0.gpu = .known(false) }
        },
        .init("a conflicting task runs") { rig in
            try rig.submit("export")
            try rig.ask("rival")
        },
        .init("the bundle is paused until 12:00") { rig in
            try rig.pause(SituationRig.bundle, for: .seconds(14_400))
            try rig.ask("index")
        },
        .init("all bundles are paused, and the bundle, too") { rig in
            try rig.pause(SituationRig.bundle, for: .seconds(14_400))
            try rig.pause(nil, for: nil)
            try rig.ask("index")
        },
        .init("it fails in 20 min, and is on battery") { rig in
            try rig.change { $0.power = battery(50) }
            let end = rig.world.now.wall + .seconds(1200)
            try rig.ask("cleanup") { $0.startDeadline = StartDeadline(date: end, action: .fail) }
        },
        .init("it fails before the hours of between") { rig in
            let end = rig.world.now.wall + .seconds(1200)
            try rig.ask("night") { $0.startDeadline = StartDeadline(date: end, action: .fail) }
        },
        .init("the budget is used up, and has a share of its own") { rig in
            try rig.call(
                .change(SituationRig.bundle, .budget(launches: 0, cpu: nil, burst: 0.5)))
            try rig.ask("refresh")
        },
    ]

    static let far: [WaitingSituation] = [
        .init("it may begin in 2 h, and both slots are taken") { rig in
            try rig.submit("mail.index")
            try rig.submit("feed.index")
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(7200) }
        },
        .init("it may begin in 2 h, and the user works") { rig in
            try rig.change { $0.user = .known(.active) }
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(7200) }
        },
        .init("it may begin in 5 min, and the machine is warm, and another deferrable launch runs") { rig in
            try rig.change { $0.thermal = .known(.fair) }
            try rig.submit("mail.index")
            let now = rig.world.now.wall
            try rig.ask("index") { $0.earliestBeginDate = now + .seconds(300) }
        },
        .init("both short slots are taken, and the bundle was refreshed just now") { rig in
            try rig.submit("refresh")
            try rig.end("refresh", succeeded)
            try rig.submit("mail.refresh")
            try rig.submit("feed.refresh")
            try rig.ask("sync")
        },
        .init("the bundle was refreshed just now, and the score is too low") { rig in
            try rig.submit("refresh")
            try rig.end("refresh", succeeded)
            try rig.change {
                $0.power = battery(40)
                $0.user = .known(.active)
            }
            try rig.ask("sync")
        },
    ]

    static let past: [WaitingSituation] = [
        .init("the host was restarted while the request waited for power") { rig in
            try rig.change { $0.power = battery(80) }
            try rig.ask("cleanup")
            try rig.pass(.seconds(3600))
            try rig.restart()
        },
        .init("the user came back, and the launch was put back") { rig in
            try rig.ask("index")
            try rig.change { $0.user = .known(.active) }
        },
        .init("the charger was unplugged, and the launch was put back") { rig in
            try rig.ask("cleanup")
            try rig.change { $0.power = battery(80) }
        },
        .init("memory pressure ended a continued task") { rig in
            try rig.ask("export")
            try rig.change { $0.pressure = .known(PressureCondition(cpu: false, memory: true, io: false)) }
            try rig.pass(.seconds(60))
        },
        .init("the file system of the store is full") { rig in
            try rig.change { $0.power = battery(80) }
            try rig.ask("cleanup")
            rig.isDiskFull = true
            try rig.change { $0.power = .known(.mains) }
        },
        .init("the file system of the store is full, and it waits for power") { rig in
            try rig.change { $0.user = .known(.active) }
            try rig.ask("index")
            try rig.ask("cleanup")
            rig.isDiskFull = true
            try rig.change {
                $0.user = .known(.idle)
                $0.power = battery(80)
            }
        },
        .init("nothing is pending, and a request would start") { rig in
            rig.task = SituationRig.identifier("index")
        },
        .init("nothing is pending, and a request would wait for power") { rig in
            try rig.change { $0.power = battery(80) }
            rig.task = SituationRig.identifier("cleanup")
        },
        .init("1,200 requests wait for power") { rig in
            try rig.change { $0.power = battery(80) }
            rig.task = SituationRig.identifier("cleanup")
            var crowd: [PermittedHandler] = []
            for number in 1...1200 { crowd.append(SituationRig.handler("crowd\(number)")) }
            try rig.install([SituationRig.handler("photos")] + crowd)
            for number in 1...1200 {
                let identifier = SituationRig.identifier("crowd\(number).cleanup")
                rig.world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
            }
            try rig.calm()
            try rig.ask("cleanup")
        },
    ]
}
