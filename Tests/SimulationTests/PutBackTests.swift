import HostCore
import MemoryStore
import TaskHostTestSupport
import Scheduling
import TaskModel
import Testing

@testable import Simulation

/// Requests that are put back wait their turn: on a virtual host, with the real core, store and scheduler.
@Suite struct PutBackTests {
    /// The plan of each task, by the last word of its identifier.
    private struct Plans: LaunchModel {
        let plans: [String: LaunchPlan]

        func plan(for request: TaskRequest, ordinal: Int) -> LaunchPlan {
            let name = request.identifier.rawValue.split(separator: ".").last.map(String.init) ?? ""
            return plans[name] ?? LaunchPlan(work: .seconds(1), cpuShare: 0.1, resumes: false)
        }
    }

    /// A launch that never completes, and stops 50 ms after it is asked to.
    private static func endless(
        cpuShare: Double = 0.1, resumes: Bool = false, progressPeriod: Duration? = nil
    ) -> LaunchPlan {
        LaunchPlan(
            work: .seconds(86_400 * 365), cpuShare: cpuShare, resumes: resumes,
            progressPeriod: progressPeriod)
    }

    private static func bundle(
        _ name: String, _ task: String, _ kind: TaskKind = .processing,
        _ change: (inout TaskDeclaration) -> Void = { _ in }
    ) throws -> Manifest {
        var declaration = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.\(name).\(task)"), kind: kind)
        change(&declaration)
        return Manifest(
            bundle: try BundleIdentifier("com.example.\(name)"), library: "\(name).so",
            modes: [.processing, .fetch], tasks: [declaration], sandbox: SandboxDeclaration())
    }

    private static func host(_ manifests: [Manifest], _ plans: [String: LaunchPlan]) -> VirtualHost {
        var host = VirtualHost(
            at: Moment(boot: .zero, monotonic: .zero, wall: Fleet.start), model: Plans(plans: plans))
        host.begin(VirtualBeginning(manifests: manifests))
        return host
    }

    private static func submit(_ identifier: String, at time: Duration, _ host: inout VirtualHost) throws {
        let submission = TaskSubmission(identifier: try TaskIdentifier(identifier), origin: .client)
        host.add(.call(.submit(submission, from: nil)), at: time)
    }

    private static func starts(of task: String, _ host: VirtualHost) -> [Duration] {
        host.tally.launches.filter { $0.identifier.rawValue.hasSuffix(".\(task)") }
            .map { $0.start - Fleet.start }
    }

    private static func vetoes(_ identifier: String, _ host: VirtualHost) throws -> [Verdict] {
        try host.core.explain(TaskIdentifier(identifier), at: host.now).explanation.vetoes
    }

    /// The lease of 2 s that `runtime: 2s` gives.
    private static func short(_ task: inout TaskDeclaration) {
        task.limits.lease = Lease(duration: .seconds(2), gracePeriod: .seconds(10))
    }

    @Test(arguments: [nil, Duration.milliseconds(500)])
    func `beside two jobs that never end, twenty others start within two leases each`(
        progressPeriod: Duration?
    ) throws {
        // With progress, the two jobs resume, so they have no back-off; only their turn keeps them waiting.
        let plan = Self.endless(resumes: progressPeriod != nil, progressPeriod: progressPeriod)
        let others = try (0..<20).map { try Self.bundle("other\($0)", "job", .processing, Self.short) }
        var host = Self.host(
            [
                try Self.bundle("one", "endless", .processing, Self.short),
                try Self.bundle("two", "endless", .processing, Self.short),
            ] + others, ["endless": plan])
        for name in ["one", "two"] { try Self.submit("com.example.\(name).endless", at: .zero, &host) }
        for index in 0..<20 {
            try Self.submit("com.example.other\(index).job", at: .seconds(10) + .seconds(20) * index, &host)
        }
        host.run(until: .seconds(600))
        let starts = Self.starts(of: "job", host)
        #expect(starts.count == 20)
        for (index, start) in starts.enumerated() {
            let wait = start - (.seconds(10) + .seconds(20) * index)
            #expect(wait <= .seconds(2) * 2 + .milliseconds(100), "the job \(index) waited \(wait)")
        }
    }

    @Test func `a refresh of 1 s that never completes has eight launches, not the budget of a day`() throws {
        var host = Self.host(
            [
                try Self.bundle("a", "refresh", .appRefresh) {
                    $0.limits.lease = Lease(duration: .seconds(1), gracePeriod: .seconds(5))
                }
            ], ["refresh": Self.endless()])
        try Self.submit("com.example.a.refresh", at: .zero, &host)
        host.run(until: .seconds(50))
        #expect(Self.starts(of: "refresh", host).count < 5)
        host.run(until: .seconds(86_400 * 2))
        #expect(Self.starts(of: "refresh", host).count == 8)
        #expect(host.store.pendingRequests.isEmpty)
        #expect(host.tally.launches.last?.outcome == .failed)
    }

    @Test func `the next request of a schedule begins with a new row of attempts`() throws {
        var host = Self.host(
            [
                try Self.bundle("a", "refresh", .appRefresh) {
                    $0.limits.lease = Lease(duration: .seconds(1), gracePeriod: .seconds(5))
                    $0.schedule = Schedule(every: .seconds(3600), tolerance: .zero)
                }
            ], ["refresh": Self.endless()])
        // The budget has 24 launches after eight hours.
        host.run(until: .seconds(12 * 3600))
        let first = host.tally.launches.prefix(24)
        #expect(first.map(\.attempt) == Array(repeating: Array(1...8), count: 3).flatMap(\.self))
        #expect(Set(first.map(\.request)).count == 3)
    }

    @Test func `a continued task that stalls is tried eight times with growing pauses, and then fails`()
        throws
    {
        var host = Self.host(
            [try Self.bundle("a", "export", .continuedProcessing)], ["export": Self.endless()])
        try Self.submit("com.example.a.export", at: .zero, &host)
        host.run(until: .seconds(3600))
        #expect(host.tally.launches.map(\.expiration) == Array(repeating: .noProgress, count: 8))
        let ends = host.tally.launches.compactMap { $0.end }
        let pauses = zip(host.tally.launches.dropFirst(), ends).map { $0.start - $1 }
        for (index, pause) in pauses.enumerated() {
            let exact = Duration.seconds(5 << index)
            #expect(pause >= exact * 8 / 10 && pause <= exact + .milliseconds(1), "\(index + 1): \(pause)")
        }
        #expect(host.tally.launches.last?.outcome == .failed)
    }

    /// Random bundles with tasks that end and tasks that never do, whether they get further or not.
    @Test(arguments: Seeds.of(1...60))
    func `whatever runs, a first attempt starts within a lease for each pair of bundles`(seed: UInt64) throws
    {
        var numbers = SeededNumbers(seed: seed)
        let count = Int.random(in: 3...12, using: &numbers)
        let lease = Duration.seconds(Int64.random(in: 1...20, using: &numbers))
        var plans: [String: LaunchPlan] = [:]
        let manifests = try (0..<count).map { index in
            var plan = LaunchPlan(
                work: .milliseconds(Int64.random(in: 1...30_000, using: &numbers)),
                cpuShare: Double.random(in: 0...2, using: &numbers), resumes: Bool.random(using: &numbers))
            if Int.random(in: 0..<3, using: &numbers) > 0 { plan.work = .seconds(86_400 * 365) }
            if Bool.random(using: &numbers) { plan.progressPeriod = .milliseconds(300) }
            plans["t\(index)"] = plan
            return try Self.bundle("b\(index)", "t\(index)", .processing) {
                $0.limits.lease = Lease(duration: lease, gracePeriod: .seconds(10))
            }
        }
        var host = Self.host(manifests, plans)
        var submitted: [String: Duration] = [:]
        for index in 0..<count {
            let time = Duration.milliseconds(Int64.random(in: 0...60_000, using: &numbers))
            submitted["t\(index)"] = time
            try Self.submit("com.example.b\(index).t\(index)", at: time, &host)
        }
        host.run(until: .seconds(1800))
        for (task, time) in submitted {
            let start = try #require(Self.starts(of: task, host).first, "\(task) never starts")
            let limit = (lease + .milliseconds(100)) * ((count + 1) / 2)
            #expect(start - time <= limit, "\(task) waits \(start - time) of at most \(limit)")
        }
        // Between two attempts without progress, the back-off passes: 5 s, doubled after each attempt, of
        // which the jitter leaves at least four fifths.
        for (task, _) in submitted {
            let launches = host.tally.launches.filter { $0.identifier.rawValue.hasSuffix(".\(task)") }
            if plans[task]?.resumes == true || plans[task]?.progressPeriod != nil { continue }
            #expect(launches.count <= 8)
            for (index, (one, next)) in zip(launches, launches.dropFirst()).enumerated() {
                let end = try #require(one.end)
                #expect(next.start - end >= .seconds(4 << index), "\(task), attempt \(index + 2)")
            }
        }
    }

    @Test(arguments: [true, false], [20, 50, 80, 150])
    func `a CPU limit holds over the restarts of its own expirations`(resumes: Bool, percent: Int) throws {
        var host = Self.host(
            [
                try Self.bundle("a", "burns") {
                    $0.limits.cpu = CPULimit(percent: percent, window: .seconds(60))
                }
            ], ["burns": Self.endless(cpuShare: 2, resumes: resumes)])
        try Self.submit("com.example.a.burns", at: .zero, &host)
        host.run(until: .seconds(1700))
        let launches = host.tally.launches
        #expect(launches.count > 1)
        #expect(launches.allSatisfy { $0.expiration == .cpuLimit || $0.end == nil })
        let used = launches.dropLast().reduce(Duration.zero) { $0 + $1.cpu }
        let share = try used.inSeconds / (#require(launches.last?.start) - Fleet.start).inSeconds
        #expect(share <= Double(percent) / 100, "\(share) of a core over \(launches.count) launches")
    }

    @Test func `a continued task that memory pressure ended starts again when the pressure is gone`() throws {
        var host = Self.host(
            [try Self.bundle("a", "export", .continuedProcessing)],
            ["export": Self.endless(progressPeriod: .seconds(1))])
        try Self.submit("com.example.a.export", at: .zero, &host)
        var short = Conditions.simulatedStart
        short.pressure = .known(PressureCondition(cpu: false, memory: true, io: false))
        host.add(.input(.conditions(short)), at: .seconds(10))
        host.run(until: .seconds(3600))
        #expect(host.tally.launches.map(\.expiration) == [.pressure])
        #expect(try Self.vetoes("com.example.a.export", host).map(\.policy) == ["Pressure"])
        host.add(.input(.conditions(.simulatedStart)), at: .seconds(3600))
        host.run(until: .seconds(3601))
        #expect(Self.starts(of: "export", host) == [.zero, .seconds(3600)])
    }

    @Test func `to expire a launch lets the request start that waits for its slot`() throws {
        var host = Self.host(
            [try Self.bundle("a", "endless"), try Self.bundle("b", "endless"), try Self.bundle("c", "job")],
            ["endless": Self.endless(resumes: true, progressPeriod: .seconds(1))])
        for name in ["a", "b"] { try Self.submit("com.example.\(name).endless", at: .zero, &host) }
        try Self.submit("com.example.c.job", at: .seconds(5), &host)
        host.run(until: .seconds(10))
        let veto = try #require(Self.vetoes("com.example.c.job", host).first)
        #expect(veto.policy == "Concurrency")
        #expect(veto.rationale.first?.remedy?.contains("bgtask expire IDENTIFIER") == true)
        host.add(.stop(try TaskIdentifier("com.example.a.endless"), .simulated), at: .seconds(10))
        host.run(until: .seconds(11))
        #expect(Self.starts(of: "job", host) == [.milliseconds(10_050)])
    }
}
