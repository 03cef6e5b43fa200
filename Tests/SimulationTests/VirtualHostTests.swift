import HostCore
import MemoryStore
import Recording
import Scheduling
import TaskModel
import Testing

@testable import Simulation

/// A virtual host uses the core of the real host, so features of the core work here too.
@Suite struct VirtualHostTests {
    private static let start = Moment(boot: .zero, monotonic: .zero, wall: Fleet.start)

    /// Launches that run for ten minutes, and then succeed.
    private struct LongLaunches: LaunchModel {
        var submissions: [LaunchPlan.Submission] = []

        func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
            var plan = LaunchPlan(work: .seconds(600), cpuShare: 0.1, resumes: false)
            plan.submissions = submissions
            return plan
        }
    }

    private static func manifest(_ schedule: Schedule? = nil, kind: TaskKind = .processing) throws -> Manifest
    {
        var task = TaskDeclaration(pattern: try IdentifierPattern("com.example.a.work"), kind: kind)
        task.schedule = schedule
        return Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "a.so", modes: [.processing],
            tasks: [task], sandbox: SandboxDeclaration())
    }

    private static func host(
        _ world: VirtualBeginning, model: LongLaunches = LongLaunches()
    ) -> (host: VirtualHost, log: Log) {
        var host = VirtualHost(at: start, model: model)
        let log = Log()
        host.record = { log.entries.append($0) }
        host.begin(world)
        return (host, log)
    }

    private final class Log {
        var entries: [RecordedEntry] = []

        func moments(of occurrence: RecordedEntry.Occurrence) -> [Moment] {
            entries.filter { $0.occurrence == occurrence }.map(\.at)
        }
    }

    private static func submission(_ identifier: String = "com.example.a.work") throws -> TaskSubmission {
        TaskSubmission(identifier: try TaskIdentifier(identifier), origin: .client)
    }

    @Test(arguments: [true, false])
    func `a machine that was booted triggers its schedules`(isBooted: Bool) throws {
        var schedule = Schedule(timing: nil, tolerance: .zero)
        schedule.onBoot = true
        let manifest = try Self.manifest(schedule)
        var world = VirtualBeginning(manifests: [manifest])
        world.isBooted = isBooted
        var (host, _) = Self.host(world)
        host.run(until: .seconds(1))
        #expect(host.tally.launches.count == (isBooted ? 1 : 0))
        // A host that starts later during the same boot does not trigger these schedules again.
        host.run(until: .seconds(3600))
        world.isBooted = false
        host.die(at: host.now)
        host.begin(world)
        host.run(until: .seconds(7200))
        #expect(host.tally.launches.count == (isBooted ? 1 : 0))
    }

    @Test func `the machine sleeps when the host lets it`() throws {
        var (host, log) = Self.host(VirtualBeginning(manifests: [try Self.manifest()]))
        host.add(.call(.submit(try Self.submission(), from: nil)), at: .zero)
        host.add(.sleep(until: .seconds(1000), notBefore: .seconds(100)), at: .seconds(100))
        host.add(.sleep(until: .seconds(3000), notBefore: .seconds(2000)), at: .seconds(2000))
        host.run(until: .seconds(3600))
        // The launch ends within 50 ms of the call to stop, and nothing else keeps the machine awake.
        #expect(host.tally.launches.first?.expiration == .systemSleep)
        #expect(log.moments(of: .willSleep).map(\.boot) == [.seconds(100), .seconds(2000)])
        let naps = log.moments(of: .hasWoken)
        #expect(naps.map(\.boot) == [.seconds(1000), .seconds(3000)])
        #expect(naps.map(\.monotonic) == [.milliseconds(100_050), .milliseconds(1_100_050)])
    }

    @Test func `the machine does not wait for a launch that does not answer`() throws {
        struct Deaf: LaunchModel {
            func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
                var plan = LaunchPlan(work: .seconds(600), cpuShare: 0.1, resumes: false)
                plan.answer = .seconds(60)
                return plan
            }
        }
        var host = VirtualHost(at: Self.start, model: Deaf())
        let log = Log()
        host.record = { log.entries.append($0) }
        host.begin(VirtualBeginning(manifests: [try Self.manifest()]))
        host.add(.call(.submit(try Self.submission(), from: nil)), at: .zero)
        host.add(.sleep(until: .seconds(1000), notBefore: .seconds(100)), at: .seconds(100))
        host.run(until: .seconds(3600))
        let woken = try #require(log.moments(of: .hasWoken).first)
        #expect(woken.boot == .seconds(1000) && woken.monotonic == .seconds(105))
        // The grace period of 10 s continued when the machine woke.
        let launch = try #require(host.tally.launches.first)
        #expect(launch.outcome == .killed && launch.end == Fleet.start + .seconds(1005))
    }

    @Test func `a host that is stopped puts back what ran, without a back-off`() throws {
        var (host, _) = Self.host(VirtualBeginning(manifests: [try Self.manifest()]))
        host.add(.call(.submit(try Self.submission(), from: nil)), at: .zero)
        host.add(.input(.stop), at: .seconds(100))
        host.run(until: .seconds(200))
        #expect(host.tally.launches.map(\.expiration) == [.hostShutdown])
        #expect(host.tally.launches.map(\.outcome) == [.expired])
        #expect(host.store.pendingRequests.map(\.attempt) == [2])
        host.die(at: host.now)
        host.begin(VirtualBeginning(manifests: [try Self.manifest()]))
        host.run(until: .seconds(201))
        #expect(host.tally.launches.map(\.attempt) == [1, 2])
    }

    @Test func `what a client or a handler may not submit is counted as refused`() throws {
        let foreign = try TaskIdentifier("com.example.b.work")
        let model = LongLaunches(submissions: [
            .init(
                after: .seconds(10), submission: TaskSubmission(identifier: foreign, origin: .handler),
                delay: nil)
        ])
        var (host, _) = Self.host(VirtualBeginning(manifests: [try Self.manifest()]), model: model)
        host.add(.call(.submit(try Self.submission(), from: nil)), at: .zero)
        host.add(.call(.submit(try Self.submission("com.example.c.work"), from: nil)), at: .seconds(5))
        host.run(until: .seconds(3600))
        #expect(host.tally.refusals == [foreign: 1, try TaskIdentifier("com.example.c.work"): 1])
    }

    @Test func `a user who stops a launch does not get it again`() throws {
        var (host, _) = Self.host(VirtualBeginning(manifests: [try Self.manifest()]))
        let submission = try Self.submission()
        host.add(.call(.submit(submission, from: nil)), at: .zero)
        host.add(.stop(submission.identifier, .cancelledByUser), at: .seconds(100))
        host.run(until: .seconds(7200))
        #expect(host.tally.launches.map(\.outcome) == [.cancelled])
        #expect(host.store.pendingRequests.isEmpty)
    }

    @Test func `a changed file triggers once each schedule that watches it, in a recorded world too`() throws
    {
        var schedule = Schedule(timing: nil, tolerance: .zero)
        schedule.onFileChange = "/etc/watched"
        let manifest = try Self.manifest(schedule)
        var (host, log) = Self.host(VirtualBeginning(manifests: [manifest]))
        host.add(.input(.filesChanged(["/etc/watched"])), at: .seconds(50))
        host.run(until: .seconds(7200))
        #expect(host.tally.launches.count == 1)
        let segment = RecordedSegment(path: "memory", entries: log.entries)
        let again = try #require(RecordedWorld([segment]).run())
        #expect(again.launches.map(\.start) == host.tally.launches.map(\.start))
        // Manifests that watch another file do not react to this one.
        var changes = RecordedWorld.Changes()
        schedule.onFileChange = "/etc/other"
        changes.manifests = [try Self.manifest(schedule)]
        #expect(RecordedWorld([segment]).run(changes)?.launches.isEmpty == true)
    }

    @Test func `a store that lives for years keeps what it needs`() throws {
        var fleet = Fleet(kinds: [.kiosk], manifests: try SampleManifests.make(), seed: 5)
        fleet.days = 5
        var host = VirtualHost(at: Self.start, model: TypicalLaunches(seed: 5))
        host.begin(VirtualBeginning(manifests: fleet.manifests))
        host.run(until: .seconds(86_400) * 5)
        let kept = host.store.launches(identifier: nil, limit: .max, before: nil)
        #expect(host.tally.launches.count > 100)
        #expect(!kept.isEmpty && kept.count < host.tally.launches.count / 2)
    }
}
