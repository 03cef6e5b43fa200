import HandlerRegistry
import Launching
import TaskModel
import TaskHostTestSupport
import Testing

@testable import HostCore
@testable import Scheduling

/// A person who does what the headline says, look after look, gets the request to start, or learns honestly
/// that nobody can start it now.
@Suite(.tags(.situation)) struct FollowedHeadlineTests {
    /// Tasks whose requirements pull in different directions.
    private static let known: [(name: String, task: @Sendable () throws -> TaskDeclaration)] = [
        ("not idle or a condition", { try OddTask.task(.processing, "not idle or condition.vpn") }),
        (
            "not idle or an undefined condition",
            { try OddTask.task(.processing, "not idle or condition.gone") }
        ),
        (
            "a required condition, or not",
            {
                var task = try OddTask.task(.appRefresh, "not condition.vpn or condition.docked")
                task.requiredConditions = ["vpn"]
                return task
            }
        ),
        ("a low battery", { try OddTask.task(.appRefresh, "battery < 15") }),
        (
            "a low battery without power, or a condition",
            {
                try OddTask.task(.appRefresh, "battery < 15 and not externalPower or condition.docked")
            }
        ),
        (
            "low-data mode, or a condition",
            {
                var task = try OddTask.task(.appRefresh, "network == constrained or condition.docked")
                task.network = .any
                return task
            }
        ),
        (
            "a user and power, or a condition",
            {
                try OddTask.task(.processing, "externalPower and not idle or condition.docked")
            }
        ),
        (
            "three conditions or a busy user",
            {
                try OddTask.task(
                    .processing, "not idle or condition.docked and condition.vpn and externalPower")
            }
        ),
    ]

    @Test(arguments: Self.known.indices, 0..<8)
    func `the acts of headlines lead to a start`(index: Int, bits: Int) throws {
        var rig = try SituationRig()
        try rig.install([OddTask.handler(Self.known[index].task())])
        try rig.change {
            $0.user = .known(bits & 1 == 0 ? .idle : .active)
            $0.custom = ["docked": .known(false), "vpn": .known(bits & 2 != 0)]
            $0.power = bits & 4 == 0 ? WaitingSituation.battery(12) : .known(.mains)
            $0.network = .known(bits & 1 == 0 ? .constrained : .unmetered)
        }
        try rig.ask("odd")
        try rig.follow { _ in 0 }
    }

    /// The battery must be charged before the charger is unplugged.
    @Test(arguments: [
        ("not externalPower", 30, 25), ("not externalPower", nil, 12), ("not charging", 60, 45),
    ])
    func `a charge and no power lead to a start`(when: String, battery: Int?, charge: Int) throws {
        for isPlugged in [true, false] {
            var task = try OddTask.task(.appRefresh, when)
            task.constraints?.battery = battery
            var rig = try SituationRig()
            try rig.install([OddTask.handler(task)])
            try rig.change {
                $0.power = .known(
                    PowerCondition(externalPower: isPlugged, isCharging: isPlugged, batteryPercent: charge))
            }
            try rig.ask("odd")
            try rig.follow { _ in 0 }
            if let request = rig.request { #expect(rig.world.store.launches(of: request.id).count == 1) }
        }
    }

    @Test(arguments: [true, false])
    func `a battery that must be low, and a disk that must be full, lead to a start`(isPlugged: Bool) throws {
        for when in [
            "battery < 20", "battery <= 40", "not storage >= 5GiB", "battery < 50 and storage < 1GiB",
        ] {
            var rig = try SituationRig()
            try rig.install([OddTask.handler(try OddTask.task(.appRefresh, when))])
            try rig.change {
                $0.power = .known(
                    PowerCondition(externalPower: isPlugged, isCharging: isPlugged, batteryPercent: 80))
                $0.storage = .known(.gibibytes(20))
            }
            try rig.ask("odd")
            try rig.follow { _ in 0 }
            if let request = rig.request {
                #expect(rig.world.store.launches(of: request.id).count == 1, "\(when)")
            }
        }
    }

    private typealias Machine = (
        when: String, start: String, change: @Sendable (inout Conditions) -> Void
    )

    /// Machines on which an obvious act is useless, or another policy forbids its effect.
    private static let machines: [Machine] = [
        // The processor must not be kept busy: the host would then hold the task.
        (
            "cpuPressure or externalPower", "plug in, and it starts at once",
            { $0.power = WaitingSituation.battery(60) }
        ),
        (
            "ioPressure or externalPower", "plug in, and it starts at once",
            { $0.power = WaitingSituation.battery(60) }
        ),
        // The machine is warm enough for the expression, and too hot for the host.
        (
            "thermal != nominal", "let the machine cool down to fair, and it starts",
            { $0.thermal = .known(.serious) }
        ),
        (
            "thermal >= fair", "let the machine cool down to fair, and it starts",
            { $0.thermal = .known(.critical) }
        ),
        (
            "not externalPower or condition.docked", "turn on docked, and it starts at once",
            { $0.power = .known(.mains) }
        ),
        (
            "battery < 10 or condition.docked", "turn on docked",
            { $0.power = WaitingSituation.charging(60) }
        ),
        // A switch is easier than a plug, and a plug is easier than a charge.
        (
            "externalPower or battery >= 80", "plug in, and it starts at once",
            { $0.power = WaitingSituation.battery(60) }
        ),
        (
            "network == unmetered or condition.docked", "turn on docked",
            { $0.network = .known(.metered) }
        ),
        (
            "battery < 10 or network == metered", "connect to a metered network, and it starts at once",
            { $0.power = WaitingSituation.charging(60) }
        ),
        (
            "not ioPressure and (thermal >= fair or condition.docked)",
            "close what uses the disks and turn on docked",
            { $0.pressure = .known(PressureCondition(cpu: false, memory: false, io: true)) }
        ),
    ]

    @Test(arguments: Self.machines.indices)
    func `a headline names the act that works, and the easiest first`(index: Int) throws {
        let (when, start, change) = Self.machines[index]
        var rig = try SituationRig()
        var task = try OddTask.task(.processing, when)
        task.ignoresDeviceActivity = true
        if when.hasPrefix("not externalPower") { task.constraints?.battery = 80 }
        try rig.install([OddTask.handler(task)])
        try rig.change {
            $0.custom = ["docked": .known(false)]
            change(&$0)
        }
        try rig.ask("odd")
        let headline = try rig.explanation().outlook.headline
        #expect(headline.contains(": \(start)"), "\(headline)")
        try rig.checkRemedies()
        let request = try #require(rig.request)
        try rig.follow { _ in 0 }
        #expect(rig.world.store.launches(of: request.id).count == 1, "\(headline)")
    }

    @Test func `the act against pressure names each resource`() throws {
        var rig = try SituationRig()
        try rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: true)) }
        try rig.ask("index")
        let headline = try rig.explanation().outlook.headline
        #expect(
            headline.contains("close what uses the processor and the disks, and it starts at once"),
            "\(headline)")
        try rig.checkRemedies()
    }

    // Without the charger, the rule about low batteries needs a charge of 20 %.
    @Test func `the verdict of 'when' calls no clause enough that a rule excludes now`() throws {
        var rig = try SituationRig()
        try rig.install([
            OddTask.handler(try OddTask.task(.appRefresh, "not externalPower or condition.docked"))
        ])
        try rig.change {
            $0.power = .known(PowerCondition(externalPower: true, isCharging: true, batteryPercent: 10))
            $0.custom = ["docked": .known(false)]
        }
        try rig.ask("odd")
        let request = try #require(rig.request)
        let verdicts = rig.world.core.explain(request, at: rig.world.now).verdicts
        let when = try #require(verdicts.first { $0.policy == "When" })
        let clauses = when.rationale.filter { $0.quantity == "clause" }.map(\.required)
        #expect(clauses.contains { $0.contains("externalPower") && $0.contains("excludes") }, "\(clauses)")
        #expect(clauses.contains { $0.contains("docked") && $0.contains("enough") }, "\(clauses)")
    }

    /// Random tasks under random conditions.
    @Test(arguments: Seeds.of(1...400))
    func `the acts of random headlines lead to a start`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var rig = try SituationRig()
        try rig.install([OddTask.handler(OddTask.random(&random))])
        try rig.change { OddTask.change(&$0, &random) }
        try rig.ask("odd")
        var choices = SeededNumbers(seed: seed, part: 1)
        try rig.follow { Int.random(in: 0..<$0, using: &choices) }
    }
}

/// Tasks of the bundle `com.example.photos` with strange requirements.
private enum OddTask {
    static func task(_ kind: TaskKind, _ when: String) throws -> TaskDeclaration {
        var task = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.photos.odd"), kind: kind)
        task.constraints = TaskConstraints(when: try WhenExpression(when, payload: [:]))
        return task
    }

    static func handler(_ task: TaskDeclaration) -> PermittedHandler {
        var handler = SituationRig.handler("photos")
        handler.manifest.tasks = [task]
        return handler
    }

    static func random(_ random: inout SeededNumbers) throws -> TaskDeclaration {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let kinds: [TaskKind] = [.processing, .appRefresh, .continuedProcessing]
        var task = try Self.task(
            kinds.randomElement(using: &random) ?? .processing, expression(&random, depth: 2))
        task.ignoresDeviceActivity = task.kind == .processing && chance(0.4)
        task.requiresExternalPower = chance(0.2)
        if chance(0.3) { task.network = chance(0.5) ? .any : .unmetered }
        if chance(0.3) { task.requiredConditions = chance(0.5) ? ["vpn"] : ["docked", "vpn"] }
        if chance(0.2) { task.constraints?.battery = 60 }
        if chance(0.2) { task.constraints?.storage = .gibibytes(2) }
        return task
    }

    private static func expression(_ random: inout SeededNumbers, depth: Int) -> String {
        let tests = [
            "idle", "externalPower", "not externalPower", "battery >= 40", "battery < 15", "battery >= 80",
            "lowPower",
            "network == unmetered", "network == metered", "network == constrained", "network != none",
            "condition.vpn", "condition.docked", "condition.gone", "thermal < serious", "gpu",
            "memoryPressure", "storage >= 1GiB",
        ]
        let kind = depth == 0 ? 0 : Int.random(in: 0..<5, using: &random)
        switch kind {
        case 0: return tests.randomElement(using: &random) ?? "idle"
        case 1: return "not (\(expression(&random, depth: depth - 1)))"
        default:
            let count = Int.random(in: 2...3, using: &random)
            let parts = (0..<count).map { _ in "(\(expression(&random, depth: depth - 1)))" }
            return parts.joined(separator: kind == 2 ? " and " : " or ")
        }
    }

    static func change(_ conditions: inout Conditions, _ random: inout SeededNumbers) {
        func one<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        let levels = [5, 12, 25, 45, 70, 100]
        let (level, isPlugged) = (one(levels), one([true, false]))
        conditions.power = .known(
            PowerCondition(externalPower: isPlugged, isCharging: isPlugged, batteryPercent: level))
        conditions.user = one([.known(.idle), .known(.active)])
        conditions.lowPowerMode = .known(one([true, false, false]))
        conditions.network = .known(one([.none, .constrained, .metered, .unmetered]))
        conditions.thermal = .known(one([.nominal, .nominal, .fair, .serious, .critical]))
        conditions.pressure = .known(
            PressureCondition(cpu: false, memory: one([true, false, false]), io: false))
        conditions.storage = .known(one([.gibibytes(1), .gibibytes(4)]))
        conditions.gpu = .known(one([true, false]))
        conditions.custom = [
            "vpn": one([.known(true), .known(false), .unknown]),
            "docked": one([.known(true), .known(false)]),
        ]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: conditions.power = .unknown
        case 1: conditions.user = .unknown
        case 2: conditions.network = .unknown
        default: break
        }
    }
}

extension SituationRig {
    /// Does one act of the headline after the other, until the request starts.
    ///
    /// - Parameter choose: Which of several alternatives of an act is done.
    /// - Throws: ``BrokenPromise`` if the acts lead in a circle, or if the headline names none although some
    ///   would let the request start.
    fileprivate mutating func follow(_ choose: (Int) -> Int) throws {
        var seen = [world.conditions]
        var told: [String] = []
        for _ in 0..<10 {
            guard let request else { return }
            if world.store.launches(of: request.id).count > 0 { return }
            told.append(try explanation().outlook.headline)
            var foresight = Foresight(world.core.scheduler, at: world.now)
            let plan = foresight.plan(for: request)
            guard foresight.contradiction(of: request) == nil, let act = plan.acts.first else {
                if !plan.vetoes.isEmpty, let way = wayToStart(request) {
                    throw BrokenPromise("\(told): nothing is to do, but it would start with \(way)")
                }
                return
            }
            let alternatives = [act] + (plan.alternatives[act.key] ?? [])
            for part in alternatives[choose(alternatives.count)].remedies {
                guard try perform(part) else { throw BrokenPromise("\(told): nobody can do \(part)") }
            }
            if seen.contains(world.conditions) { throw BrokenPromise("\(told): the acts lead in a circle") }
            seen.append(world.conditions)
        }
        throw BrokenPromise("\(told): ten acts do not start it")
    }

    /// The conditions that people could bring about and to which no policy objects; `nil` if there are none.
    private func wayToStart(_ request: TaskRequest) -> Conditions? {
        let now = world.conditions
        var ways = [now]
        func vary(_ change: (Conditions) -> [Conditions]) { ways = ways.flatMap { [$0] + change($0) } }
        if let power = now.power.value {
            let levels = [20, 40, 60, 80, 100].filter { $0 > power.batteryPercent ?? 100 }
            vary { one in
                ([(true, power.batteryPercent), (false, power.batteryPercent)]
                    + levels.flatMap { [(true, $0), (false, $0)] })
                    .map {
                        var copy = one
                        copy.power = .known(
                            PowerCondition(externalPower: $0, isCharging: $0, batteryPercent: $1))
                        return copy
                    }
            }
        }
        func vary<Value>(_ path: WritableKeyPath<Conditions, Reading<Value>>, _ values: [Value]) {
            if now[keyPath: path].value == nil { return }
            vary { one in
                values.map {
                    var copy = one
                    copy[keyPath: path] = .known($0)
                    return copy
                }
            }
        }
        vary(\.user, [.idle, .active])
        vary(\.lowPowerMode, [true, false])
        vary(\.network, [.none, .constrained, .metered, .unmetered])
        vary(\.thermal, [.nominal])
        vary(\.pressure, [.none])
        vary(\.storage, [.gibibytes(4)])
        for name in now.custom.keys.sorted() where now.custom[name] != .unknown {
            vary { one in
                [true, false].map {
                    var copy = one
                    copy.custom[name] = .known($0)
                    return copy
                }
            }
        }
        var scheduler = world.core.scheduler
        for way in ways {
            _ = scheduler.situation.replaceConditions(way, at: world.now)
            let subject = scheduler.situation.subject(request, isTelling: false)
            if scheduler.judge(subject, isSimulated: false, isDeciding: true, at: world.now).wait == nil {
                return way
            }
        }
        return nil
    }
}
