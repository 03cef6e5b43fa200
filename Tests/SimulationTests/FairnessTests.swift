import HostCore
import MemoryStore
import TaskHostTestSupport
import Scheduling
import TaskModel
import Testing

@testable import Simulation

/// The fair distribution of slots among bundles, in random histories on a virtual host.
@Suite struct FairnessTests {
    /// What each launch does: it works forever, or for up to 4 s. The seed and the identifier decide.
    private struct Plans: LaunchModel {
        let seed: UInt64

        func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
            let name = request.identifier.rawValue.utf8.reduce(0 as UInt64) { $0 &* 31 &+ UInt64($1) }
            var random = SeededNumbers(seed: seed ^ name, part: UInt64(ordinal))
            // Service is counted in launches here: without CPU time, each adds the same.
            var plan = LaunchPlan(work: .seconds(1), cpuShare: 0, resumes: random.chance(0.5))
            if random.chance(0.5) {
                plan.work = .seconds(86_400 * 365)
                // A launch with progress has no back-off after it was put back, so it waits for a slot again
                // at once.
                if random.chance(0.7) { plan.progressPeriod = .milliseconds(500) }
            } else {
                plan.work = random.duration(.milliseconds(100)...(.seconds(4)))
            }
            return plan
        }
    }

    /// A request that waits for nothing but a slot, and what happened since it began to.
    private struct Wait {
        var bundle: BundleIdentifier
        var lane: TaskKind
        /// The launches of each bundle in the lane since then.
        var launches: [BundleIdentifier: Int] = [:]
        /// How many launches each bundle was behind this one's when the wait began.
        var arrears: [BundleIdentifier: Double]
        /// The requests of its own bundle that were launched.
        var own: [RequestID: Int] = [:]
    }

    private struct World {
        var host: VirtualHost
        var waits: [RequestID: Wait] = [:]
        var seen = 0
        /// How often a request waited for a slot while others were launched, so that the test is not empty.
        var waited = 0

        func service(of bundle: BundleIdentifier, in lane: TaskKind) -> Double {
            let state = host.core.scheduler.bundleState(bundle)
            let account = lane == .processing ? state.service : state.shortService
            return account.seconds / ServiceAccountLaunch.seconds
        }

        mutating func step(to time: Duration, bundles: [BundleIdentifier], history: String) {
            host.run(until: time)
            let new = host.tally.launches[seen...]
            seen = host.tally.launches.count
            for launch in new {
                if waits.removeValue(forKey: launch.request)?.launches.isEmpty == false { waited += 1 }
                guard let kind = kinds[launch.identifier], let bundle = owners[launch.identifier] else {
                    continue
                }
                for (id, wait) in waits where launch.start > since[id] ?? launch.start {
                    guard wait.lane == kind else { continue }
                    waits[id]?.launches[bundle, default: 0] += 1
                    if bundle == wait.bundle {
                        waits[id]?.own[launch.request, default: 0] += 1
                    }
                }
            }
            check(history)
            let pending = host.store.pendingRequests
            for request in pending {
                let factor = host.core.scheduler.waitingFor(request.id, at: host.now)
                // Only a slot is missing; further attempts have their turn after first attempts.
                guard factor == "Concurrency", request.attempt == 1 else {
                    waits[request.id] = nil
                    continue
                }
                guard waits[request.id] == nil else { continue }
                since[request.id] = host.now.wall
                let own = service(of: request.bundle, in: request.kind)
                waits[request.id] = Wait(
                    bundle: request.bundle, lane: request.kind,
                    arrears: Dictionary(
                        uniqueKeysWithValues: bundles.map {
                            ($0, max(0, own - service(of: $0, in: request.kind)))
                        }))
            }
            let ids = Set(pending.map(\.id))
            for id in waits.keys where !ids.contains(id) { waits[id] = nil }
        }

        var kinds: [TaskIdentifier: TaskKind] = [:]
        var owners: [TaskIdentifier: BundleIdentifier] = [:]
        private var since: [RequestID: WallTime] = [:]

        init(host: VirtualHost) { self.host = host }

        /// Checks two promises to a request that waits for a slot.
        ///
        /// Another bundle is launched at most as often as the waiting request's bundle, plus the launches
        /// that it was behind. And of its own bundle, no other request is launched twice.
        private mutating func check(_ history: String) {
            for (id, wait) in waits where problem == nil {
                let own = wait.launches[wait.bundle] ?? 0
                for (bundle, count) in wait.launches where bundle != wait.bundle {
                    // A launch that was under way, or that ended just before the wait, is not counted yet.
                    let most = Double(own + 2) + (wait.arrears[bundle] ?? 0).rounded(.up)
                    if Double(count) > most {
                        problem = "while \(id) of \(wait.bundle) waited, \(bundle) had \(count) launches"
                    }
                }
                if wait.own.values.contains(where: { $0 > 1 }) {
                    problem = "while \(id) waited, another request of \(wait.bundle) was launched twice"
                }
            }
            if let problem { problems.insert("\(history): \(problem)") }
        }

        /// The first unfair wait; `nil` if there is none.
        private var problem: String?
        private(set) var problems: Set<String> = []
    }

    private enum ServiceAccountLaunch {
        /// What a launch adds to the service of its bundle.
        static let seconds = 10.0
    }

    private static func manifest(_ name: String, tasks: Int) throws -> Manifest {
        let declarations = try (0..<tasks).flatMap { number in
            try [("long", TaskKind.processing), ("short", .appRefresh)].map { word, kind in
                var task = TaskDeclaration(
                    pattern: try IdentifierPattern("com.example.\(name).\(word)\(number)"), kind: kind)
                task.limits.lease = Lease(duration: .seconds(2), gracePeriod: .seconds(5))
                // Work that needs external power has no CPU budget, which would be a reason to wait.
                task.requiresExternalPower = true
                return task
            }
        }
        var manifest = Manifest(
            bundle: try BundleIdentifier("com.example.\(name)"), library: "\(name).so",
            modes: [.processing, .fetch], tasks: declarations, sandbox: SandboxDeclaration())
        manifest.pendingLimits = PendingLimits(appRefresh: 100, processing: 100)
        return manifest
    }

    @Test(arguments: Seeds.of(1...12))
    func `every request that only lacks a slot has its turn`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed, part: 5)
        let count = Int.random(in: 3...8, using: &random)
        let manifests = try (0..<count).map { try Self.manifest("b\($0)", tasks: 6) }
        var settings = SchedulerSettings()
        settings.launchSpacing = .zero
        settings.refreshSpacing = .zero
        settings.refreshLaunchesPerDay = 100_000
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: Plans(seed: seed),
            detail: .launches)
        host.begin(VirtualBeginning(settings: settings, manifests: manifests))
        var world = World(host: host)
        for manifest in manifests {
            for task in manifest.tasks {
                world.kinds[task.pattern.base] = task.kind
                world.owners[task.pattern.base] = manifest.bundle
            }
        }
        let bundles = manifests.map(\.bundle)
        // Requests of bundles in use have earlier deadlines, which must not matter as much as service.
        for bundle in bundles.prefix(count / 2 + 1) {
            world.host.add(.call(.change(bundle, .used)), at: .zero)
        }
        for second in 0..<600 {
            // Bundles come one after the other, so that some have had more than others.
            for (index, manifest) in manifests.enumerated() where second >= index * 20 {
                guard second < 400, random.chance(0.2),
                    let task = manifest.tasks.randomElement(using: &random)
                else { continue }
                let submission = TaskSubmission(identifier: task.pattern.base, origin: .client)
                world.host.add(.call(.submit(submission, from: nil)), at: .seconds(second))
            }
            world.step(to: .seconds(second) + .milliseconds(500), bundles: bundles, history: "seed \(seed)")
        }
        #expect(world.problems.isEmpty)
        #expect(world.waited > 10)
    }

    @Test(arguments: 0..<6)
    func `beside jobs that never end, every request starts within its share of leases`(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed, part: 6)
        let count = Int.random(in: 4...12, using: &random)
        let manifests = try (0..<count).map { try Self.manifest("b\($0)", tasks: 1) }
        struct Endless: LaunchModel {
            func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
                LaunchPlan(
                    work: .seconds(86_400 * 365), cpuShare: 0, resumes: true,
                    progressPeriod: .milliseconds(500))
            }
        }
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: Endless(),
            detail: .launches)
        host.begin(VirtualBeginning(manifests: manifests))
        var submitted: [(task: TaskIdentifier, at: Duration)] = []
        for manifest in manifests {
            let task = manifest.tasks[0].pattern.base
            let time = random.duration(.zero...(.seconds(120)))
            submitted.append((task, time))
            host.add(
                .call(.submit(TaskSubmission(identifier: task, origin: .client), from: nil)), at: time)
        }
        host.run(until: .seconds(600))
        // N: the bundles divided by the two slots of the lane. A lease is 2 s, and its end takes 50 ms.
        let turns = (count + 1) / 2
        for (task, time) in submitted {
            let start = try #require(host.tally.launches.first { $0.identifier == task }).start
            let wait = start - (Fleet.start + time)
            #expect(wait <= .milliseconds(2100) * turns, "seed \(seed): \(task) waited \(wait), of \(count)")
        }
    }

    /// Two tasks that never end and save checkpoints, and others that need a second.
    private struct TwoEndless: LaunchModel {
        func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
            request.bundle.rawValue.hasSuffix("endless")
                ? LaunchPlan(
                    work: .seconds(86_400 * 365), cpuShare: 0, resumes: true, progressPeriod: .seconds(60))
                : LaunchPlan(work: .seconds(1), cpuShare: 1, resumes: false)
        }
    }

    @Test func `beside two jobs whose leases are renewed, twenty others start within two leases`() throws {
        func manifest(_ name: String, _ tasks: [String], _ kind: TaskKind) throws -> Manifest {
            var manifest = Manifest(
                bundle: try BundleIdentifier(name), library: "\(name).so", modes: [.processing],
                tasks: try tasks.map {
                    var task = TaskDeclaration(pattern: try IdentifierPattern("\(name).\($0)"), kind: kind)
                    task.requiresExternalPower = true
                    return task
                }, sandbox: SandboxDeclaration())
            manifest.pendingLimits = PendingLimits(appRefresh: 100, processing: 100)
            return manifest
        }
        let endless = try manifest("com.example.endless", ["one", "two"], .processing)
        let others = try (1...20).map { try manifest("com.example.other\($0)", ["work"], .processing) }
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: TwoEndless(),
            detail: .launches)
        host.begin(VirtualBeginning(manifests: [endless] + others))
        // All have had much more service than the two, so service alone would favour the two.
        func submit(_ identifier: TaskIdentifier, at time: Duration) {
            let submission = TaskSubmission(identifier: identifier, origin: .client)
            host.add(.call(.submit(submission, from: nil)), at: time)
        }
        for other in others { submit(other.tasks[0].pattern.base, at: .zero) }
        for task in endless.tasks { submit(task.pattern.base, at: .seconds(600)) }
        for other in others { submit(other.tasks[0].pattern.base, at: .seconds(700)) }
        host.run(until: .seconds(6 * 3600))
        for other in others {
            let launches = host.tally.launches.filter { $0.identifier == other.tasks[0].pattern.base }
            #expect(launches.count == 2)
            let second = try #require(launches.last)
            #expect(second.start <= Fleet.start + .seconds(700 + 2 * 610), "\(second)")
        }
        // The two go on from their checkpoints, and are never given up.
        let attempts = host.tally.launches.filter {
            endless.tasks.map(\.pattern.base).contains($0.identifier)
        }
        #expect(attempts.count > 2 && attempts.suffix(2).allSatisfy { $0.end == nil })
    }
}
