import Foundation
import HandlerRegistry
import HostSettings
import TaskHostTestSupport
import TaskModel
import Testing

@testable import HostCore
@testable import Scheduling

/// A person who does what headlines say reaches the start in few steps, for any mix of `when`, other
/// requirements and machine.
@Suite(.tags(.situation)) struct HeadlinePropertyTests {
    @Test(arguments: Seeds.of(1...40))
    func `each act helps, none undoes another, and the promised start comes`(block: UInt64) throws {
        for seed in (block - 1) * 50 + 1...block * 50 {
            var random = SeededNumbers(seed: seed, part: 2)
            let task = try MixedTask.random(&random)
            let when = task.constraints?.when.map(\.text) ?? ""
            var rig = try SituationRig()
            var handler = SituationRig.handler("photos")
            handler.manifest.tasks = [task]
            try rig.install([handler])
            try rig.change { MixedTask.change(&$0, &random) }
            let conditions = rig.world.conditions
            try rig.ask("mixed")
            do {
                try rig.obey { Int.random(in: 0..<$0, using: &random) }
            } catch {
                Issue.record(
                    "seed \(seed), \(MixedTask.text(task, when)), \(MixedTask.text(conditions)): \(error)")
            }
        }
    }
}

/// Tasks of the bundle `com.example.photos` with random requirements, and random machines.
private enum MixedTask {
    static func random(_ random: inout SeededNumbers) throws -> TaskDeclaration {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let kinds: [TaskKind] = [.processing, .processing, .appRefresh, .continuedProcessing]
        var task = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.photos.mixed"),
            kind: kinds.randomElement(using: &random) ?? .processing)
        task.constraints = TaskConstraints(
            when: try WhenExpression(expression(&random, depth: 2), payload: [:]))
        task.ignoresDeviceActivity = task.kind == .processing && chance(0.5)
        task.requiresExternalPower = chance(0.2)
        if chance(0.3) { task.network = chance(0.5) ? .any : .unmetered }
        if chance(0.2) { task.requiredConditions = chance(0.5) ? ["vpn"] : ["docked"] }
        if chance(0.2) { task.constraints?.battery = chance(0.5) ? 30 : 80 }
        if chance(0.15) { task.constraints?.storage = .gibibytes(chance(0.5) ? 2 : 50) }
        if chance(0.1) {
            task.constraints?.between =
                chance(0.5) ? DailyWindow(start: 22 * 60, end: 6 * 60) : DailyWindow(start: 960, end: 1080)
        }
        return task
    }

    private static func expression(_ random: inout SeededNumbers, depth: Int) -> String {
        func one(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
        if depth == 0 || Int.random(in: 0..<4, using: &random) == 0 { return test(&random) }
        let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
            expression(&random, depth: depth - 1)
        }
        let text = "(\(parts.joined(separator: one([" and ", " or "]))))"
        return Int.random(in: 0..<8, using: &random) == 0 ? "not \(text)" : text
    }

    private static func test(_ random: inout SeededNumbers) -> String {
        func one(_ values: String...) -> String { values.randomElement(using: &random) ?? "" }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            return
                "battery \(one("<", "<=", ">", ">=", "==", "!=")) \(one("10", "20", "35", "50", "80", "100"))"
        case 2: return one("externalPower", "not externalPower", "charging", "not charging")
        case 3: return "network \(one("==", "!=")) \(one("none", "constrained", "metered", "unmetered"))"
        case 4: return "thermal \(one("==", "!=", "<", "<=", ">", ">=")) \(one("nominal", "fair", "serious"))"
        case 5: return one("idle", "not idle")
        case 6:
            return one("cpuPressure", "not cpuPressure", "ioPressure", "not memoryPressure", "not ioPressure")
        case 7: return one("lowPower", "not lowPower")
        case 8: return "storage \(one("<", ">=", ">")) \(one("5GiB", "50GiB"))"
        case 9: return "hour \(one(">=", "<", "==")) \(one("6", "10", "17", "22"))"
        default: return one("condition.docked", "condition.vpn", "not condition.docked", "not condition.vpn")
        }
    }

    static func change(_ conditions: inout Conditions, _ random: inout SeededNumbers) {
        func one<Value>(_ values: Value...) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        let level = one(4, 12, 19, 20, 40, 60, 79, 100)
        conditions.power = one(
            .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: level)),
            .known(PowerCondition(externalPower: true, isCharging: true, batteryPercent: level)),
            .known(.mains))
        conditions.user = .known(one(.idle, .active))
        conditions.lowPowerMode = .known(one(true, false, false, false))
        conditions.network = .known(one(.none, .constrained, .metered, .unmetered, .unmetered))
        conditions.thermal = .known(one(.nominal, .nominal, .fair, .serious, .critical))
        conditions.pressure = .known(
            PressureCondition(
                cpu: one(true, false, false), memory: one(true, false, false, false),
                io: one(true, false, false, false)))
        conditions.storage = .known(one(.gibibytes(1), .gibibytes(20), .gibibytes(100)))
        conditions.custom = ["vpn": .known(one(true, false)), "docked": .known(one(true, false))]
        switch Int.random(in: 0..<20, using: &random) {
        case 0: conditions.power = .unknown
        case 1: conditions.network = .unknown
        case 2: conditions.custom["vpn"] = .unknown
        case 3: conditions.custom["docked"] = nil
        default: break
        }
    }

    static func text(_ task: TaskDeclaration, _ when: String) -> String {
        let others = [
            task.requiresExternalPower ? "requiresExternalPower" : nil, task.network.map { "network \($0)" },
            task.requiredConditions.isEmpty ? nil : "requires \(task.requiredConditions)",
            task.constraints?.battery.map { "battery \($0)" },
            task.constraints?.storage.map { "storage \($0)" },
            task.constraints?.between.map { "between \($0)" },
            task.ignoresDeviceActivity ? "ignores activity" : nil,
        ]
        return "\(task.kind) '\(when)' \(others.compactMap(\.self).joined(separator: ", "))"
    }

    static func text(_ conditions: Conditions) -> String {
        let power = conditions.power.value.map {
            "power \($0.externalPower ? "external" : "battery") \($0.batteryPercent ?? -1)"
        }
        let pressure = conditions.pressure.value
        return [
            power ?? "power ?", conditions.network.value.map { "\($0)" } ?? "network ?",
            conditions.user.value.map { "\($0)" } ?? "?", conditions.thermal.value.map { "\($0)" } ?? "?",
            conditions.lowPowerMode == .known(true) ? "lowPower" : "",
            "pressure \(pressure?.cpu == true ? "c" : "")\(pressure?.memory == true ? "m" : "")"
                + "\(pressure?.io == true ? "i" : "")",
            "\(conditions.storage.value.map { "\($0)" } ?? "?")",
            conditions.custom.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                .joined(separator: " "),
        ].joined(separator: " ")
    }
}

extension SituationRig {
    private var isStarted: Bool {
        guard let request else { return true }
        return world.store.launches(of: request.id).count > 0
    }

    /// Does what the headlines say until the request starts or nobody can start it.
    ///
    /// - Parameter choose: Which of several alternatives of an act is done.
    /// - Throws: ``BrokenPromise`` if an act changes nothing or undoes an earlier one, if the promised start
    ///   does not come, or if more than four headlines are necessary.
    fileprivate mutating func obey(_ choose: (Int) -> Int) throws {
        guard let request else { return }
        var told: [String] = []
        var past = [world.conditions]
        for _ in 0..<4 {
            if isStarted { return }
            let headline = try explanation().outlook.headline
            told.append(headline)
            var foresight = Foresight(world.core.scheduler, at: world.now)
            if foresight.contradiction(of: request) != nil { return }
            let plan = foresight.plan(for: request)
            let course = foresight.course(of: request, in: foresight.world(of: request, after: plan.acts))
            var acts: [Remedy.Act] = []
            for act in plan.acts {
                // A headline that promises no start now names only the first of several alternatives.
                func isTold(_ act: PossibleAct) -> Bool {
                    (act.parts.isEmpty ? [act] : act.parts).allSatisfy { part in
                        let words = [part.text.withSmallLetter, part.short?.withSmallLetter, part.state]
                        return words.contains { $0.map(headline.contains) ?? false }
                    }
                }
                guard isTold(act) else {
                    throw BrokenPromise("\(told): the headline does not say: \(act.text)")
                }
                let all = [act] + (plan.alternatives[act.key] ?? []).filter(isTold)
                acts += all[choose(all.count)].remedies
            }
            if let twice = Self.repetition(in: headline) {
                throw BrokenPromise("\(told): says twice: \(twice)")
            }
            try doAll(acts, told)
            if isStarted { return }
            if plan.effect == .starts { throw BrokenPromise("\(told): it did not start") }
            if case .startsAt(let first, let latest) = plan.effect {
                try pass((latest ?? first) - world.now.wall + .seconds(1))
                if !isStarted { throw BrokenPromise("\(told): it did not start at the date") }
                return
            }
            if acts.isEmpty {
                guard course.date == nil || course.rest.isEmpty == false else { continue }
                if let way = possibleStart(request) {
                    throw BrokenPromise(
                        "\(told): nothing is to do, but it would start with \(MixedTask.text(way))")
                }
                return
            }
            if past.contains(world.conditions) { throw BrokenPromise("\(told): the acts lead in a circle") }
            past.append(world.conditions)
        }
        if !isStarted { throw BrokenPromise("\(told): four headlines do not start it") }
    }

    /// Does the acts one by one, and checks that each changes something that no other one changed before.
    private mutating func doAll(_ acts: [Remedy.Act], _ told: [String]) throws {
        var changed: Set<String> = []
        for act in acts {
            let before = world.conditions
            guard try perform(act) else { throw BrokenPromise("\(told): nobody can do \(act.text)") }
            if isStarted { return }
            if act.command.map({ $0.first != "conditions" }) ?? false { continue }
            let after = world.conditions
            var facts: [String] = []
            if before.user != after.user { facts.append("user") }
            if before.lowPowerMode != after.lowPowerMode { facts.append("low-power mode") }
            if before.network != after.network { facts.append("network") }
            if before.thermal != after.thermal { facts.append("thermal") }
            if before.storage != after.storage { facts.append("storage") }
            if before.pressure.value?.cpu != after.pressure.value?.cpu { facts.append("processor") }
            if before.pressure.value?.memory != after.pressure.value?.memory { facts.append("memory") }
            if before.pressure.value?.io != after.pressure.value?.io { facts.append("disks") }
            if before.power.value?.batteryPercent != after.power.value?.batteryPercent {
                // A charge needs the charger, which may be unplugged afterwards.
                facts.append("charge")
            } else if before.power != after.power {
                facts.append("plug")
            }
            for name in after.custom.keys where before.custom[name] != after.custom[name] {
                facts.append(name)
            }
            if facts.isEmpty { throw BrokenPromise("\(told): '\(act.text)' changes nothing") }
            if let fact = facts.first(where: changed.contains) {
                throw BrokenPromise("\(told): '\(act.text)' changes \(fact) again")
            }
            changed.formUnion(facts)
        }
    }

    /// A phrase that a headline contains twice.
    private static func repetition(in headline: String) -> String? {
        [
            "restart the source of power", "plug in", "cool down", "unplug the charger",
            "leave the device alone",
        ]
        .first { headline.components(separatedBy: $0).count > 2 }
    }

    /// The conditions that people could bring about with which the request would start now; `nil` if there
    /// are none.
    private func possibleStart(_ request: TaskRequest) -> Conditions? {
        var scheduler = world.core.scheduler
        let subject = scheduler.situation.subject(request, isTelling: false)
        let now = world.conditions
        var best = now
        if now.network.value != nil { best.network = .known(.unmetered) }
        best.user = .known(.idle)
        best.thermal = .known(.nominal)
        best.lowPowerMode = .known(false)
        best.pressure = .known(.none)
        best.storage = .known(.gibibytes(200))
        for (name, value) in now.custom where value != .unknown { best.custom[name] = .known(true) }
        if let power = now.power.value, !power.externalPower {
            best.power = .known(
                PowerCondition(externalPower: true, isCharging: true, batteryPercent: power.batteryPercent))
        }
        var ways = [best]
        func vary<Value>(_ path: WritableKeyPath<Conditions, Reading<Value>>, _ values: [Value]) {
            guard now[keyPath: path].value != nil else { return }
            ways = ways.flatMap { way in
                values.map {
                    var copy = way
                    copy[keyPath: path] = .known($0)
                    return copy
                }
            }
        }
        for fact in Set(subject.needs.constraints?.when?.tests.map(\.fact) ?? []) {
            switch fact {
            case .condition(let name) where now.custom[name]?.value != nil:
                ways = ways.flatMap { way in
                    [true, false].map {
                        var copy = way
                        copy.custom[name] = .known($0)
                        return copy
                    }
                }
            case .machine(.idle): vary(\.user, [.idle, .active])
            case .machine(.network): vary(\.network, NetworkCondition.allCases)
            case .machine(.thermal): vary(\.thermal, ThermalCondition.allCases)
            case .machine(.lowPower): vary(\.lowPowerMode, [true, false])
            case .machine(.storage): vary(\.storage, [.gibibytes(3), .gibibytes(20), .gibibytes(200)])
            default: break
            }
        }
        let power: [WhenFact] = [.machine(.battery), .machine(.charging), .machine(.externalPower)]
        if subject.needs.constraints?.when?.tests.contains(where: { power.contains($0.fact) }) ?? false {
            let levels =
                now.power.value?.batteryPercent == nil
                ? [nil] : [5, 10, 15, 20, 25, 35, 45, 50, 60, 79, 80, 81, 99, 100]
            vary(
                \.power,
                levels.flatMap { level in
                    [(true, level != nil), (true, false), (false, false)].filter {
                        $0.0 != true || $0.1 || level == nil || level == 100
                    }.map {
                        PowerCondition(externalPower: $0.0, isCharging: $0.1, batteryPercent: level)
                    }
                })
        }
        for way in ways {
            _ = scheduler.situation.replaceConditions(way, at: world.now)
            if scheduler.judge(subject, isSimulated: false, isDeciding: true, at: world.now).wait == nil {
                return way
            }
        }
        return nil
    }
}
