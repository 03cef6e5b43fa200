import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The real runner with a plugin that misbehaves. Each case has the outcome of the tables in
/// Documentation/Outcomes.md, and the next launch of the same launcher succeeds.
@Suite(.system, .serialized) struct MisbehavingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        var expire: Reason?
        let outcome: Outcome
        let reason: Reason?
        var subprocesses = false
        var testDescription: String { what }
    }

    static let cases: [Case] = [
        Case(what: "succeeds", outcome: .succeeded, reason: nil),
        Case(what: "fails", outcome: .failed, reason: .handlerFailed),
        Case(what: "crashes", outcome: .crashed, reason: .signal),
        Case(what: "aborts", outcome: .crashed, reason: .signal),
        Case(what: "crashes-after", outcome: .succeeded, reason: nil),
        Case(what: "crashes-at-exit", outcome: .succeeded, reason: nil),
        Case(what: "exits", outcome: .failed, reason: .exitedWithoutCompleting),
        Case(what: "returns", outcome: .failed, reason: .exitedWithoutCompleting),
        Case(what: "no-handler", expire: .leaseEnded, outcome: .expired, reason: .leaseEnded),
        Case(what: "expires", expire: .leaseEnded, outcome: .expired, reason: .leaseEnded),
        Case(what: "expires", expire: .cancelledByUser, outcome: .cancelled, reason: .cancelledByUser),
        Case(what: "expires-well", expire: .userReturned, outcome: .succeeded, reason: .userReturned),
        Case(what: "ignores", expire: .leaseEnded, outcome: .killed, reason: .leaseEnded),
        Case(what: "hangs-in-expiration", expire: .thermal, outcome: .killed, reason: .thermal),
        Case(what: "crashes-in-expiration", expire: .thermal, outcome: .crashed, reason: .signal),
        Case(what: "forks", outcome: .succeeded, reason: nil),
        Case(what: "daemonises", outcome: .succeeded, reason: nil, subprocesses: true),
        Case(what: "floods-report", outcome: .succeeded, reason: nil),
        Case(what: "floods-log", outcome: .succeeded, reason: nil),
        Case(what: "floods-stdout", outcome: .succeeded, reason: nil),
        Case(what: "floods-stderr", outcome: .succeeded, reason: nil),
        Case(what: "garbage", outcome: .killed, reason: .protocolError),
        Case(what: "huge-length", outcome: .killed, reason: .protocolError),
        Case(what: "closes-report", outcome: .killed, reason: .protocolError),
        Case(what: "closes-all", outcome: .killed, reason: .protocolError),
        Case(what: "closes-output", outcome: .succeeded, reason: nil),
        Case(what: "submits", outcome: .succeeded, reason: nil),
    ]

    @Test func `each bad thing ends as the outcome table says, and the launcher serves on`() async throws {
        let harness = try await LaunchHarness()
        for sample in Self.cases {
            var order = try harness.order(sample.what)
            order.handler.manifest.sandbox.subprocesses = sample.subprocesses
            let sight = try await harness.run(order, expire: sample.expire)
            #expect(
                sight.end?.outcome == sample.outcome && sight.end?.reason == sample.reason,
                "\(sample.what): \(String(describing: sight.end))")
            if sample.what == "daemonises" { #expect((sight.end?.leftovers ?? 0) > 0) }
            if sample.what == "ignores" { #expect(sight.end?.code == 0x8bad_f00d) }
            if sample.what == "crashes" { #expect(sight.end?.phase == .run && sight.end?.signal == 11) }
        }
        let last = try await harness.run(try harness.order("succeeds"))
        #expect(last.end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `progress, output and completion arrive in order and harmless`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("succeeds")
        let sight = try await harness.run(order)
        #expect(
            sight.end
                == {
                    var end = LaunchEnd(outcome: .succeeded, reason: nil, message: "fine")
                    end.exitStatus = 0
                    end.completion = true
                    return end
                }())
        #expect(
            sight.events.contains(.progress(order.id, TaskProgress(completed: 3, total: 10, message: "well")))
        )
        #expect(sight.events.contains(.output(order.id, stream: .stdout, line: "hello\\x1b[31m")))
        if case .ended = sight.events.last {} else { Issue.record("ended was not the last event") }
        await harness.end()
    }

    @Test func `a pipe that has ended and is opened again does not end the host`() async throws {
        let harness = try await LaunchHarness()
        let sight = try await harness.run(try harness.order("reopens-output"))
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        let lines = sight.events.compactMap { if case .output(_, _, let line) = $0 { line } else { nil } }
        #expect(lines.count == 4097)
        #expect(lines.last == "after")
        await harness.end()
    }

    @Test func `floods are capped`() async throws {
        let harness = try await LaunchHarness()
        let output = try await harness.run(try harness.order("floods-stdout"))
        let lines = output.events.compactMap { if case .output(_, _, let line) = $0 { line } else { nil } }
        #expect(lines.count == 1025)
        #expect(
            lines.last
                == "\(5000 * 1024 - 1 << 20) more bytes were dropped: the limit per stream is 1 MiB")
        let report = try await harness.run(try harness.order("floods-report"))
        let progress = report.events.compactMap {
            if case .progress(_, let progress) = $0 { progress } else { nil }
        }
        #expect(progress.last?.completed == 399_999)
        #expect(progress.count < 4000)
        await harness.end()
    }

    @Test(arguments: [
        ("constructor-crash", Outcome.crashed, Reason.signal), ("constructor-exit", .failed, .loadFailed),
        ("constructor-hang", .failed, .loadFailed),
    ])
    func `a bad constructor ends the launch in its load phase`(
        _ sample: (what: String, outcome: Outcome, reason: Reason)
    ) async throws {
        let harness = try await LaunchHarness()
        var order = try harness.order("succeeds")
        order.environment.append("MISBEHAVE=\(sample.what)")
        let sight = try await harness.run(order)
        #expect(
            sight.end?.outcome == sample.outcome && sight.end?.reason == sample.reason,
            "\(String(describing: sight.end))")
        if sample.outcome == .crashed { #expect(sight.end?.phase == .load) }
        let next = try await harness.run(try harness.order("succeeds"))
        #expect(next.end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `a library that is not there is named by the loader`() async throws {
        let harness = try await LaunchHarness()
        var order = try harness.order("succeeds")
        order.handler.libraryPath = harness.folder.appending(path: "missing.so").path
        let sight = try await harness.run(order)
        #expect(sight.end?.outcome == .failed && sight.end?.reason == .loadFailed)
        #expect(sight.end?.message?.contains("missing.so") == true, "\(sight.end?.message ?? "")")
        await harness.end()
    }

    @Test(arguments: ["spins", "spins-below"])
    func `the CPU limit ends a launch whose processes spend it`(_ what: String) async throws {
        let harness = try await LaunchHarness()
        guard harness.launcher.isolation.groupKill == .cgroup || what == "spins" else {
            await harness.end()
            withKnownIssue("without a cgroup descendants in other sessions are not counted") {
                Issue.record("not run here")
            }
            return
        }
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .milliseconds(200))
        limits.cpu = CPULimit(percent: 20, window: .seconds(2))
        var order = try harness.order(what, limits: limits)
        order.handler.manifest.sandbox.subprocesses = what == "spins-below"
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .cpuLimit, "\(String(describing: sight.end))")
        #expect(sight.cpuTime >= .milliseconds(400))
        let warnings = sight.events.compactMap { if case .cpuWarning(_, let text) = $0 { text } else { nil } }
        #expect(warnings.last?.contains("exceeding 20 % over 2 s") == true, "\(warnings)")
        await harness.end()
    }

    @Test(arguments: [Duration.milliseconds(50), .seconds(3600)])
    func `a launch that fills its bundle's directories expires with storageLimit`(
        interval: Duration
    ) async throws {
        let harness = try await LaunchHarness(storageInterval: interval)
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(5))
        limits.storage = .mebibytes(2)
        if interval > .seconds(60) {
            // What an earlier launch wrote is counted when the next one begins.
            let file = harness.folder.appending(path: "data/earlier")
            try Data(repeating: 1, count: 3 << 20).write(to: file)
        }
        let sight = try await harness.run(try harness.order("eats-storage", limits: limits))
        #expect(sight.end?.outcome == .expired, "\(String(describing: sight.end))")
        #expect(sight.end?.reason == .storageLimit)
        #expect(sight.end?.message?.contains("the limit is 2 MiB") == true, "\(sight.end?.message ?? "")")
        let limit = sight.end?.termination?.limits.first
        #expect(limit?.name == "storage" && limit?.limit == "2 MiB" && limit?.used != nil)
        await harness.end()
    }

    @Test func `a file without a name counts as storage while a task has it open`() async throws {
        let harness = try await LaunchHarness(storageInterval: .milliseconds(50))
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(5))
        limits.storage = .mebibytes(2)
        let sight = try await harness.run(try harness.order("eats-unlinked", limits: limits))
        #expect(sight.end?.reason == .storageLimit, "\(String(describing: sight.end))")
        await harness.end()
    }

    @Test(
        .enabled(if: getuid() == 0, "only root sees what mappings and sockets keep"),
        arguments: ["eats-readonly", "eats-in-flight"])
    func `storage can't be hidden in a read-only file, or on its way between processes`(
        what: String
    ) async throws {
        let harness = try await LaunchHarness(storageInterval: .milliseconds(50))
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(10), gracePeriod: .seconds(5))
        limits.storage = .mebibytes(2)
        var order = try harness.order(what, limits: limits)
        order.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .storageLimit, "\(String(describing: sight.end))")
        await harness.end()
    }

    @Test(.enabled(if: isInMemory("/dev/shm"), "needs a file system in memory"))
    func `temporary files in memory that nothing counts have the memory limit of the launch`() async throws {
        let harness = try await LaunchHarness(
            folder: URL(filePath: "/dev/shm/launching-\(UUID().uuidString)"),
            storageInterval: .milliseconds(20))
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(5))
        limits.memory = .mebibytes(4)
        let order = try harness.order("eats-temporary", limits: limits)
        let sight = try await harness.run(order)
        // Where the controller counts, the kernel kills for memory instead.
        let reasons: [Reason?] = [.storageLimit, .memoryLimit]
        #expect(reasons.contains(sight.end?.reason), "\(String(describing: sight.end))")
        await harness.end()
    }

    @Test func `a launch below its storage limit, or without one, goes on`() async throws {
        let harness = try await LaunchHarness(storageInterval: .milliseconds(20))
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(5))
        limits.storage = .mebibytes(64)
        let sight = try await harness.run(
            try harness.order("eats-storage", limits: limits), expire: .leaseEnded)
        #expect(sight.end?.reason == .leaseEnded)
        await harness.end()
    }

    @Test func `a launch that eats memory expires with memoryLimit`() async throws {
        let harness = try await LaunchHarness()
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .milliseconds(200))
        limits.memory = .mebibytes(100)
        let sight = try await harness.run(try harness.order("eats-memory", limits: limits))
        #expect(sight.end?.reason == .memoryLimit, "\(String(describing: sight.end))")
        #expect(sight.peakMemory.map { $0 > .mebibytes(100) } == true)
        await harness.end()
    }
}
