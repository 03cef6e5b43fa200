import HandlerRegistry
import HostSettings
import Launching
import MemoryStore
import Scheduling
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// A host in a virtual world, with one request that waits.
///
/// The acts of a person are made from the words and commands that the host gives, not from the scheduler's
/// idea of them.
struct SituationRig {
    var world = VirtualWorld()
    /// The task that the situation is about.
    var task = try! TaskIdentifier("com.example.photos.index")
    /// Whether the store's file system is full.
    var isDiskFull = false
    /// Whether launches that were asked to stop end.
    var endsExpired = true

    static let bundle = try! BundleIdentifier("com.example.photos")

    init() throws {
        for index in VirtualManifests.bundles.indices { world.manifests.change(index, to: .gone) }
        world.manifests.others = [Self.handler("photos"), Self.handler("mail"), Self.handler("feed")]
        world.copies.formUnion(world.manifests.snapshot.handlers.compactMap(\.libraryHash))
        try world.begin()
        try calm()
    }

    static func handler(
        _ name: String, modes: Set<BackgroundMode> = [.fetch, .processing, .remoteNotification],
        indexKind: TaskKind = .processing
    ) -> PermittedHandler {
        let bundle = "com.example.\(name)"
        func task(
            _ name: String, _ kind: TaskKind, _ change: (inout TaskDeclaration) -> Void = { _ in }
        ) -> TaskDeclaration {
            var task = TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).\(name)"), kind: kind)
            change(&task)
            return task
        }
        func when(_ name: String, _ text: String, named other: String? = nil) -> TaskDeclaration {
            task(other ?? name, .processing) {
                $0.ignoresDeviceActivity = true
                $0.constraints = TaskConstraints(when: try! WhenExpression(text, payload: [:]))
            }
        }
        let tasks = [
            task("refresh", .appRefresh), task("index", indexKind), task("tidy", .activity),
            task("cleanup", .processing) { $0.requiresExternalPower = true },
            task("sync", .appRefresh) { $0.network = .any },
            task("upload", .processing) { $0.network = .unmetered },
            task("dock", .processing) { $0.requiredConditions = ["docked"] },
            task("office", .processing) { $0.requiredConditions = ["docked", "vpn"] },
            task("export", .continuedProcessing), task("render", .continuedProcessing),
            task("convert", .continuedProcessing), task("print", .continuedProcessing),
            task("push", .push), task("events", .transferEvents) { $0.network = .any },
            task("quiet", .processing) { $0.ignoresDeviceActivity = true },
            task("copy", .processing) { $0.constraints = TaskConstraints(storage: .gibibytes(2)) },
            task("scan", .continuedProcessing) { $0.constraints = TaskConstraints(battery: 60) },
            task("night", .processing) {
                $0.constraints = TaskConstraints(between: DailyWindow(start: 22 * 60, end: 6 * 60))
            },
            task("either", .processing) {
                $0.constraints = TaskConstraints(
                    when: try! WhenExpression("externalPower or battery >= 80", payload: [:]))
            },
            task("both", .processing) {
                $0.constraints = TaskConstraints(
                    when: try! WhenExpression("network == unmetered and externalPower", payload: [:]))
            },
            task("late", .processing) {
                $0.constraints = TaskConstraints(
                    when: try! WhenExpression("hour >= 22 and externalPower", payload: [:]))
            },
            when("choice", "network == unmetered or condition.docked"),
            when("conditions", "condition.docked or condition.vpn"),
            when("sets", "externalPower and network == unmetered or condition.docked and condition.vpn"),
            when("never", "idle and not idle"),
            when("night", "hour >= 22 or externalPower and condition.docked", named: "mixed"),
            when("contrary", "not idle and not externalPower"),
            when("metered", "network == metered"),
            when("low", "battery < 20"), when("warm", "thermal == fair"), when("busy", "cpuPressure"),
            when("still", "not charging"), when("half", "battery == 50"), when("other", "battery != 60"),
            when("duty", "hour >= 22 and condition.docked"),
            when("shade", "gpu"),
            task("roam", .processing) {
                $0.ignoresDeviceActivity = true
                $0.requiresExternalPower = true
                $0.constraints = TaskConstraints(
                    when: try! WhenExpression("not externalPower", payload: [:]))
            },
            task("many", .processing) { $0.requiredConditions = ["docked"] },
            task("third", .continuedProcessing) {
                $0.constraints = TaskConstraints(conflicts: [try! IdentifierPattern("\(bundle).rival")])
            },
            task("urgent", .processing) {
                let payload = ["urgent": PayloadType.boolean]
                $0.payload = payload
                $0.constraints = TaskConstraints(
                    when: try! WhenExpression("externalPower and payload.urgent", payload: payload))
            },
            task("hog", .processing) {
                $0.constraints = TaskConstraints(
                    conflicts: [try! IdentifierPattern("com.example.photos.print")])
            },
            task("rival", .continuedProcessing) {
                $0.constraints = TaskConstraints(
                    conflicts: [try! IdentifierPattern("\(bundle).export")])
            },
        ]
        var manifest = Manifest(
            bundle: try! BundleIdentifier(bundle), library: "lib.so", modes: modes, tasks: tasks,
            sandbox: SandboxDeclaration())
        manifest.sandbox.gpu = true
        return PermittedHandler(
            manifestPath: "/m/\(bundle).yaml", manifest: manifest,
            libraryPath: "/s/libraries/\(bundle)-1/lib.so", libraryHash: "\(bundle)-1")
    }

    // MARK: What happens

    /// Lets the host do all its work; tasks become ready, and those that were asked to stop end.
    mutating func calm() throws {
        for _ in 0..<3000 {
            try world.check()
            if !world.inputs.isEmpty {
                try world.takeInput()
            } else if !world.writes.isEmpty {
                world.commit(failing: isDiskFull)
            } else if !world.work.isEmpty {
                world.doWork(0)
            } else if let id = world.tasks.keys.sorted().first(where: { !(world.tasks[$0]?.isReady ?? true) })
            {
                world.tasks[id]?.isReady = true
                world.inputs.append(.launch(.started(id, pid: 7)))
                world.inputs.append(.launch(.ready(id, at: world.now)))
            } else if endsExpired,
                let id = world.tasks.keys.sorted().first(where: {
                    world.tasks[$0]?.expiration != nil
                })
            {
                world.end(id, LaunchEnd(outcome: .expired, reason: world.tasks[id]?.expiration))
            } else {
                return
            }
        }
        throw BrokenPromise("the host never becomes calm")
    }

    mutating func change(_ change: (inout Conditions) -> Void) throws {
        change(&world.conditions)
        world.inputs.append(.conditions(world.conditions))
        try calm()
    }

    mutating func settings(_ change: (inout SchedulerSettings) -> Void) throws {
        var effective = world.settings.effective
        change(&effective.scheduler)
        world.settings = SettingsSnapshot(effective: effective)
        world.inputs.append(.settings(world.settings))
        try calm()
    }

    mutating func call(_ call: HostCall) throws {
        world.call(call)
        try calm()
    }

    /// Submits a request of a task, such as `index` or `mail.refresh`.
    mutating func submit(_ name: String, _ change: (inout TaskSubmission) -> Void = { _ in }) throws {
        let identifier = Self.identifier(name)
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        change(&submission)
        try call(.submit(submission, from: nil))
    }

    /// Submits the request that the situation is about.
    mutating func ask(_ name: String, _ change: (inout TaskSubmission) -> Void = { _ in }) throws {
        task = Self.identifier(name)
        try submit(name, change)
    }

    static func identifier(_ name: String) -> TaskIdentifier {
        try! TaskIdentifier("com.example.\(name.contains(".") ? name : "photos.\(name)")")
    }

    /// Lets time pass, with every alarm on the way.
    mutating func pass(_ time: Duration) throws {
        let end = world.now.boot + time
        for _ in 0..<500 {
            guard let next = world.nextAlarm, next <= end else { break }
            world.pass(max(.zero, next - world.now.boot))
            world.ring()
            try calm()
        }
        world.pass(max(.zero, end - world.now.boot))
    }

    /// Kills the host; the next one begins 5 s later, and may know when this one ended.
    mutating func restart(knowsEnd: Bool = true) throws {
        world.kill()
        world.pass(.seconds(5))
        try world.begin(after: knowsEnd ? world.now.wall + (.zero - .seconds(5)) : nil)
        try calm()
    }

    /// Pauses a bundle or, with `nil`, the host, for a while or until it is resumed.
    mutating func pause(_ bundle: BundleIdentifier?, for time: Duration?) throws {
        let end = time.map { world.now.wall + $0 }
        try call(bundle.map { .change($0, .paused(until: end)) } ?? .pause(.until(end)))
    }

    /// Ends the newest launch of a task.
    mutating func end(_ name: String, _ end: LaunchEnd) throws {
        let identifier = Self.identifier(name)
        guard let id = world.tasks.first(where: { $0.value.order.record.identifier == identifier })?.key
        else {
            throw BrokenPromise("\(identifier) does not run")
        }
        world.end(id, end)
        try calm()
    }

    mutating func install(_ handlers: [PermittedHandler]) throws {
        world.install { $0.others = handlers }
        try calm()
    }

    // MARK: What the host says

    var request: TaskRequest? { world.core.requests.request(of: task) }

    func explanation() throws -> TaskExplanation { try world.core.explain(task, at: world.now) }

    /// How often a request was started, or the one that took its place.
    func starts(of request: TaskRequest) -> Int {
        world.store.launches(identifier: request.identifier, limit: 1000, before: nil)
            .count { $0.request >= request.id }
    }

    var starts: Int { request.map { world.store.launches(of: $0.id).count } ?? 0 }

    // MARK: What a person does

    /// Does what a remedy says; returns false if a person cannot do it, or it has no certain effect.
    mutating func perform(_ act: Remedy.Act) throws -> Bool {
        if let command = act.command { return try run(command) }
        if act.text.hasPrefix("Free some space in the file system of ") {
            isDiskFull = false
            return true
        }
        if act.text.hasPrefix("Free ") {
            // Frees exactly the amount that the host named, to check that it is enough.
            let words = act.text.split(separator: " ")
            let unit = words[2] == "GiB" ? 1_073_741_824.0 : 1_048_576
            let bytes = Int64((Double(words[1]) ?? 0) * unit)
            try change { conditions in
                let free = conditions.storage.value?.bytes ?? 0
                conditions.storage = .known(ByteCount(bytes: free + bytes))
            }
            return true
        }
        if act.text.hasPrefix("Let the machine work until it is warm") {
            let states = ThermalCondition.allCases.filter { act.text.contains("thermal: \($0.rawValue)") }
            try change { $0.thermal = states.first.map(Reading.known) ?? .unknown }
            return true
        }
        if act.text.hasPrefix("Let the machine cool down to ") {
            let state = ThermalCondition.allCases.first { act.text.hasSuffix($0.rawValue) }
            try change { $0.thermal = state.map(Reading.known) ?? .unknown }
            return true
        }
        if act.text.hasPrefix("Close what uses ") {
            // Only what the host named is closed.
            let text = act.text
            try change {
                var pressure = $0.pressure.value ?? .none
                if text.contains("processor") { pressure.cpu = false }
                if text.contains("memory") { pressure.memory = false }
                if text.contains("disks") { pressure.io = false }
                $0.pressure = .known(pressure)
            }
            return true
        }
        if act.text.hasPrefix("Run something that keeps ") {
            let text = act.text
            try change {
                var pressure = $0.pressure.value ?? .none
                if text.contains("processor") { pressure.cpu = true }
                if text.contains("memory") { pressure.memory = true }
                if text.contains("disks") { pressure.io = true }
                $0.pressure = .known(pressure)
            }
            return true
        }
        if act.text.hasPrefix("Charge the battery to ") {
            let percent = act.text.split(separator: " ").compactMap { Int($0) }.first
            try change {
                $0.power = .known(
                    PowerCondition(externalPower: true, isCharging: true, batteryPercent: percent))
            }
            return true
        }
        if act.text.hasPrefix("Let the battery fall to ") {
            let percent = act.text.split(separator: " ").compactMap { Int($0) }.first
            let isPlugged = act.text.hasSuffix("plug it in again")
            try change {
                $0.power = .known(
                    PowerCondition(externalPower: isPlugged, isCharging: isPlugged, batteryPercent: percent))
            }
            return true
        }
        if act.text.hasPrefix("Fill the disk until less than ") {
            let size = act.text.dropFirst("Fill the disk until less than ".count).prefix { $0.isNumber }
            let unit: Int64 =
                act.text.contains("GiB") ? 1 << 30 : act.text.contains("MiB") ? 1 << 20 : 1 << 10
            guard let number = Int64(size) else { return false }
            try change { $0.storage = .known(ByteCount(bytes: number * unit - 1)) }
            return true
        }
        switch act.text {
        case "Plug in":
            try change { conditions in
                conditions.power = .known(
                    PowerCondition(
                        externalPower: true, isCharging: true,
                        batteryPercent: conditions.power.value?.batteryPercent))
            }
        case "Connect to a network", "Connect to an unmetered network", "Turn low-data mode off":
            try change { $0.network = .known(.unmetered) }
        case "Connect to a metered network": try change { $0.network = .known(.metered) }
        case "Turn low-data mode on": try change { $0.network = .known(.constrained) }
        case "Disconnect from the network": try change { $0.network = .known(.none) }
        case "Turn low-power mode on": try change { $0.lowPowerMode = .known(true) }
        case "Use the device": try change { $0.user = .known(.active) }
        case "Unplug the charger":
            try change { conditions in
                conditions.power = .known(
                    PowerCondition(
                        externalPower: false, isCharging: false,
                        batteryPercent: conditions.power.value?.batteryPercent))
            }
        case "Turn low-power mode off": try change { $0.lowPowerMode = .known(false) }
        case "Leave the charger plugged in until the battery is full":
            try change {
                $0.power = .known(
                    PowerCondition(externalPower: true, isCharging: false, batteryPercent: 100))
            }
        case "Let the machine cool down": try change { $0.thermal = .known(.nominal) }
        case "Leave the device alone for 5 min": try change { $0.user = .known(.idle) }
        case "Set 'refresh: available' in the host's configuration":
            try settings { $0.refresh = .available }
        default: return false
        }
        return true
    }

    /// Runs a command of `bgtask` as the command line does.
    private mutating func run(_ command: [String]) throws -> Bool {
        switch (command.first, command.dropFirst().first) {
        case ("used", let bundle?): try call(.change(BundleIdentifier(bundle), .used))
        case ("settings", "refresh"): try call(.change(BundleIdentifier(command[2]), .refresh(.available)))
        case ("settings", "budget"):
            func option(_ name: String) -> String? {
                command.firstIndex(of: name).map { command[$0 + 1] }
            }
            let cpu = try option("--cpu").map { try DurationText.parse($0) }
            let launches = option("--launches").flatMap { Int($0) }
            let burst = option("--burst").flatMap { Double($0) }
            try call(
                .change(BundleIdentifier(command[2]), .budget(launches: launches, cpu: cpu, burst: burst)))
        case ("resume", nil): try call(.pause(.ended))
        case ("resume", let bundle?): try call(.change(BundleIdentifier(bundle), .resumed))
        case ("conditions", "set"):
            // The host refuses conditions that no file defines.
            let names = command.dropFirst(2).map { String($0.prefix { $0 != "=" }) }
            if names.contains(where: { world.conditions.custom[$0] == nil }) { return false }
            try change { conditions in
                for word in command.dropFirst(2) {
                    conditions.custom[String(word.prefix { $0 != "=" })] = .known(word.hasSuffix("=on"))
                }
            }
        case ("submit", let identifier?):
            var submission = TaskSubmission(identifier: try TaskIdentifier(identifier), origin: .client)
            submission.payload = command.firstIndex(of: "--payload").map { command[$0 + 1] }
            submission.requiresExternalPower = command.contains("--external-power")
            try call(.submit(submission, from: nil))
        case ("expire", let target?): try call(.expire(ControlTarget(target), .simulated))
        case ("launch", let identifier?):
            try call(.simulate(TaskIdentifier(identifier), debug: false))
        default: return false
        }
        return true
    }
}
