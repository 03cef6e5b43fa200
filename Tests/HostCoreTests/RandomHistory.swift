import Launching
import Scheduling
import TaskModel

@testable import HostCore

/// The kinds of faults in a random history.
enum VirtualFault: CaseIterable {
    /// A commit fails.
    case fullDisk
    /// The store refuses one write of a commit.
    case refusedWrite
    /// Directories cannot be created, and calendars have no next date.
    case noDirectory
    /// The host dies, and another host starts.
    case killedHost
    /// The host dies between two effects of one input.
    case cutEffects
    /// The host is stopped, and another host starts.
    case stoppedHost
    /// Tasks crash, fail or are killed, and the launcher dies.
    case badTasks
    /// Clients leave, and report on launches that other processes run.
    case badClients
    /// The machine sleeps.
    case sleep
    /// Conditions change.
    case weather
    /// Manifests and libraries change.
    case manifests
    /// Settings change.
    case settings
    /// The wall clock is set.
    case clock
}

/// A random history of a host; a seed decides every step.
///
/// ``VirtualWorld`` checks the host's promises, the rules that a host keeps whatever happens: for example,
/// that no acknowledged request is lost.
struct RandomHistory {
    let seed: UInt64
    var steps = 150
    var faults = Set(VirtualFault.allCases)

    /// Plays the history.
    ///
    /// - Throws: The first broken promise.
    func play() throws { _ = try play(isTraced: false) }

    /// Plays the history and returns its events up to the first broken promise.
    func trace() -> [String] { (try? play(isTraced: true)) ?? [] }

    private func play(isTraced: Bool) throws -> [String] {
        var player = HistoryPlayer(seed: seed, faults: faults, isTraced: isTraced)
        do {
            try player.play(steps)
        } catch {
            guard isTraced else { throw error }
        }
        return player.world.trace
    }

    /// A history that is shorter or has fewer kinds of faults, and that also breaks a promise.
    func shrunk() -> RandomHistory {
        var smallest = self
        func fails(_ history: RandomHistory) -> Bool {
            do {
                try history.play()
                return false
            } catch { return true }
        }
        for fault in VirtualFault.allCases {
            var candidate = smallest
            candidate.faults.remove(fault)
            if fails(candidate) { smallest = candidate }
        }
        // A binary search for a shorter history that fails, whichever promise it breaks.
        var passing = 0
        while passing + 1 < smallest.steps {
            var candidate = smallest
            candidate.steps = (passing + smallest.steps) / 2
            if fails(candidate) { smallest = candidate } else { passing = candidate.steps }
        }
        return smallest
    }
}

/// Plays one random history.
struct HistoryPlayer {
    var world = VirtualWorld()
    var random: SeededNumbers
    let faults: Set<VirtualFault>

    init(seed: UInt64, faults: Set<VirtualFault>, isTraced: Bool) {
        random = SeededNumbers(seed: seed)
        self.faults = faults
        world.isTraced = isTraced
    }

    mutating func play(_ steps: Int) throws {
        try world.begin()
        for _ in 0..<steps {
            try step()
            try world.check()
        }
        if world.hasDrained || world.core.phase != .serving {
            try world.drain()
            try world.begin()
        }
        settleWorld()
        try world.settle()
    }

    /// Restores good conditions, all manifests and all settings; no bundle is dismissed or switched off.
    private mutating func settleWorld() {
        world.note { "the world settles" }
        world.conditions = .simulatedStart
        world.settings = VirtualManifests.settings[0]
        world.inputs += [.hasWoken, .conditions(world.conditions), .settings(world.settings)]
        world.install { $0.restore() }
        world.call(.pause(.ended))
        for bundle in VirtualManifests.bundles {
            world.call(.change(try! BundleIdentifier(bundle), .refresh(.available)))
            world.call(.change(try! BundleIdentifier(bundle), .resumed))
            world.call(.change(try! BundleIdentifier(bundle), .used))
        }
    }

    // MARK: Chance

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    mutating func chance(_ share: Double, of fault: VirtualFault) -> Bool {
        // The random number is drawn even without the fault, so that removing faults leaves the other steps
        // unchanged.
        chance(share) && faults.contains(fault)
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func one<Element>(of elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    // MARK: Steps

    private mutating func step() throws {
        switch number(0..<100) {
        case 0..<34:
            guard chance(0.01, of: .cutEffects) else { return try world.takeInput() }
            try world.takeInput(cut: number(0..<4))
            world.kill()
            try world.begin()
        case 34..<49: commit()
        case 49..<58:
            guard !world.work.isEmpty else { return }
            let index = number(0..<world.work.count)
            world.doWork(index, failing: chance(0.1, of: .noDirectory))
        case 58..<69: runTask()
        case 69..<75: runClient()
        case 75..<87: call()
        case 87..<91:
            world.pass(.milliseconds(Int64.random(in: 1...3_600_000, using: &random)))
            world.ring()
        case 91: changeConditions()
        case 92: changeConfiguration()
        case 93: changeSurroundings()
        case 94:
            try world.checkRemedies()
            try world.checkExplanations()
        case 95..<97:
            guard faults.contains(.killedHost) else { return }
            world.kill()
            world.pass(.seconds(1))
            try world.begin()
        case 97: try stop()
        default: try world.takeInput()
        }
    }

    private mutating func commit() {
        if chance(0.1, of: .fullDisk) { return world.commit(failing: true) }
        guard chance(0.15, of: .refusedWrite) else { return world.commit() }
        let refused = number(0..<3)
        var index = 0
        world.commit {
            index += 1
            return index - 1 == refused
        }
    }

    private mutating func stop() throws {
        guard chance(0.3, of: .stoppedHost) else { return }
        try world.hear(.stop)
        for _ in 0..<number(0..<6) where !world.hasDrained { try world.takeInput() }
        if chance(0.3), !world.hasDrained {
            try world.hear(.killAll)
            try world.checkKilled()
        }
        try world.drain(isPatient: chance(0.5))
        try world.begin()
    }

    private mutating func changeConditions() {
        if chance(0.3, of: .sleep) {
            if !world.core.isGoingToSleep { world.inputs.append(.willSleep) }
        }
        if world.core.isGoingToSleep, chance(0.8) { world.inputs.append(.hasWoken) }
        guard faults.contains(.weather) else { return }
        var conditions = Conditions.simulatedStart
        if chance(0.4) {
            conditions.power = .known(
                PowerCondition(externalPower: false, isCharging: false, batteryPercent: 50))
        }
        if chance(0.2) { conditions.user = .known(.active) }
        world.conditions = conditions
        world.inputs.append(.conditions(conditions))
    }

    private mutating func changeConfiguration() {
        if chance(0.3, of: .settings) {
            world.settings = VirtualManifests.settings[number(0..<VirtualManifests.settings.count)]
            world.inputs.append(.settings(world.settings))
        }
        guard faults.contains(.manifests) else { return }
        let bundle = number(0..<VirtualManifests.bundles.count)
        let variant = chance(0.5) ? .whole : one(of: VirtualManifests.Variant.allCases) ?? .whole
        let isReplaced = chance(0.3)
        world.install {
            $0.change(bundle, to: variant)
            if isReplaced { $0.replaceLibrary(of: bundle) }
        }
    }

    private mutating func changeSurroundings() {
        switch number(0..<4) {
        case 0 where faults.contains(.clock):
            world.setClock(.seconds(Int64.random(in: -172_800...172_800, using: &random)))
        case 1 where faults.contains(.badTasks):
            for id in world.tasks.keys.sorted() {
                world.end(id, LaunchEnd(outcome: .lost, reason: .launcherDied))
            }
        default: world.inputs.append(.followed(chance(0.7)))
        }
    }
}
