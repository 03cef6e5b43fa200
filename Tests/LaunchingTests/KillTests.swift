import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// SIGKILL of a task, of a template and of the launcher.
@Suite(.system, .serialized) struct KillTests {
    private static func kill(_ pid: Int32) throws {
        try ProcessHandle(of: pid).kill()
    }

    private static func isAlive(_ pid: Int32) -> Bool {
        guard let status = try? SmallFile.read("/proc/\(pid)/stat") else { return false }
        return !status.contains(") Z ")
    }

    /// The child processes of a process, from /proc, except a launcher's guardian.
    private static func children(of pid: Int32) -> [Int32] {
        SmallFile.directories(in: "/proc").compactMap { name in
            guard let child = Int32(name), let text = try? SmallFile.read("/proc/\(name)/stat"),
                let end = text.lastIndex(of: ")"), !text.contains("(bgtask-guardian)")
            else { return nil }
            let fields = text[text.index(after: end)...].split(separator: " ")
            return fields.count > 1 && Int32(fields[1]) == pid ? child : nil
        }
    }

    private static func parent(of pid: Int32) throws -> Int32 {
        let text = try SmallFile.read("/proc/\(pid)/stat")
        let end = try #require(text.lastIndex(of: ")"))
        let fields = text[text.index(after: end)...].split(separator: " ")
        return try #require(Int32(fields[1]))
    }

    @Test func `a killed task is crashed and the next one runs`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        try Self.kill(try #require(harness.pid(order.id)))
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .crashed)
        #expect(harness.sight(order.id).end?.signal == 9)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `a killed template is replaced and its running task goes on`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Self.parent(of: task)
        // A standby may have ended between the listing and the kill; a template does not end by itself.
        let killed = Self.children(of: launcher).filter { $0 != task && (try? Self.kill($0)) != nil }
        #expect(!killed.isEmpty)
        // A launch that gets a standby at the moment of the standby's death would count as killed.
        try await harness.wait(for: "their ends") {
            Set(killed).isDisjoint(with: Self.children(of: launcher))
        }
        for _ in 0..<3 {
            let end = try await harness.run(try harness.order("succeeds")).end
            #expect(end?.outcome == .succeeded, "\(String(describing: end))")
        }
        #expect(harness.sight(order.id).end == nil)
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .expired)
        await harness.end()
    }

    @Test func `a launcher whose program is away for long is started again when it is back`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runner-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (runner, away) = (folder.appending(path: "runner"), folder.appending(path: "away"))
        try FileManager.default.copyItem(atPath: Products.path("bgtask-runner"), toPath: runner.path)
        let harness = try await LaunchHarness(runner: runner.path)
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        try FileManager.default.moveItem(at: runner, to: away)
        try Self.kill(try Self.parent(of: task))
        try await harness.wait(for: "the report of its absence") { harness.isWithoutLauncher }
        try FileManager.default.moveItem(at: away, to: runner)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    /// Launches from a template whose constructor leaves the number of a process in a file, waits until that
    /// process was killed, and launches again.
    private func survive(
        _ constructor: String, file name: String, processLimit: UInt64? = nil, limits: LaunchLimits? = nil,
        reason: String? = nil
    ) async throws {
        let harness = try await LaunchHarness(groupKill: .cgroup, processLimit: processLimit)
        let library = try PluginCompiler.compile(
            constructor, into: harness.folder.appending(path: "library"))
        func succeed() async throws {
            let end = try await harness.run(try harness.order("runs", limits: limits, library: library)).end
            #expect(end?.outcome == .succeeded, "\(String(describing: end))")
        }
        try await succeed()
        let file = harness.folder.appending(path: "data/\(name)").path
        try await harness.wait(for: "the file \(name)") { SmallFile.exists(file) }
        let number = try #require(Int32(try SmallFile.read(file)))
        try await harness.wait(for: "the end of the process") { !Self.isAlive(number) }
        if let reason {
            try await harness.wait(for: "the reason") {
                harness.templateEnds.withLock { $0.contains { $0.contains(reason) } }
            }
        }
        try await succeed()
        await harness.end()
    }

    @Test func `a process that a template starts after it was loaded is killed, and launches go on`()
        async throws
    {
        try await survive("constructor_alarm", file: "child")
    }

    @Test func `a process that a template starts beside itself is killed, and launches go on`() async throws {
        try await survive("constructor_siblings", file: "child", reason: "had started a process")
    }

    @Test func `a template that holds rules of Landlock is killed, and launches go on`() async throws {
        try await survive("constructor_keeps_rules", file: "template", reason: "held rules of Landlock")
    }

    @Test func `a template that uses CPU time for itself is killed, and launches go on`() async throws {
        try await survive("constructor_spins", file: "template", reason: "used CPU time for itself")
    }

    @Test func `a template that takes more memory than its tasks may is killed, and launches go on`()
        async throws
    {
        var limits = LaunchLimits.standard(for: .processing)
        limits.memory = .mebibytes(64)
        try await survive(
            "constructor_hoards", file: "template", limits: limits, reason: "the limit is 64 MiB")
    }

    @Test(.enabled(if: getuid() == 0, "only root is exempt from the limits of the kernel"))
    func `a template that starts too many threads after it was loaded is killed, and launches go on`()
        async throws
    {
        guard case .success(let own) = ControlGroup.own(), !own.controllers.contains("pids") else { return }
        try await survive("constructor_bomb", file: "template", processLimit: 50)
    }

    @Test func `a stopped launcher is killed and replaced, and its launches are lost`() async throws {
        let harness = try await LaunchHarness(answerTime: .seconds(1))
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        Foundation.kill(try Self.parent(of: task), SIGSTOP)
        harness.launcher.kill(order.id, reason: .cancelledByUser, message: "to see who does it")
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .lost)
        #expect(harness.sight(order.id).end?.message?.contains("did not answer") == true)
        #expect(!Self.isAlive(task))
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `a launch that has completed keeps its outcome when its stopped launcher is killed`()
        async throws
    {
        // Its process stays for longer than it may, so the host has ordered a kill before the launcher dies.
        let harness = try await LaunchHarness(answerTime: .seconds(6))
        let order = try harness.order("completes-and-stays")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        Foundation.kill(try Self.parent(of: task), SIGSTOP)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .succeeded)
        #expect(harness.sight(order.id).end?.message == "done")
        #expect(harness.deaths == 1)
        #expect(!Self.isAlive(task))
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    /// Row 5 of the faults of isolation: nothing but a kernel's notice tells the host of the stop.
    @Test func `a launcher that is stopped while no order waits is replaced`() async throws {
        let harness = try await LaunchHarness(answerTime: .seconds(1))
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        Foundation.kill(try Self.parent(of: task), SIGSTOP)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .lost)
        #expect(!Self.isAlive(task))
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `a launcher that is continued in time keeps its launches`() async throws {
        let harness = try await LaunchHarness(answerTime: .seconds(5))
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let launcher = try Self.parent(of: try #require(harness.pid(order.id)))
        Foundation.kill(launcher, SIGSTOP)
        try await harness.wait(for: "the stop") { ProcessTracing(of: [launcher]).isStopped }
        Foundation.kill(launcher, SIGCONT)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        #expect(harness.sight(order.id).end == nil)
        #expect(harness.deaths == 0)
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .expired)
        await harness.end()
    }

    @Test func `the host kills an overdue task itself while the launcher is stopped`() async throws {
        // The launcher is not replaced within the test, so only the host can have killed the task.
        let harness = try await LaunchHarness(answerTime: .seconds(600))
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Self.parent(of: task)
        Foundation.kill(launcher, SIGSTOP)
        try await harness.expireOnceItListens(order.id)
        try await harness.wait(for: "the death of the task") { !Self.isAlive(task) }
        #expect(harness.sight(order.id).end == nil)
        Foundation.kill(launcher, SIGCONT)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .killed)
        #expect(harness.sight(order.id).end?.reason == .simulated)
        await harness.end()
    }

    @Test func `what a stopped launcher could not load is lost, not failed, so that it is tried again`()
        async throws
    {
        let harness = try await LaunchHarness(answerTime: .seconds(1))
        let first = try harness.order("ignores")
        harness.launcher.launch(first)
        try await harness.wait(for: "ready") { harness.isReady(first.id) }
        Foundation.kill(try Self.parent(of: try #require(harness.pid(first.id))), SIGSTOP)
        var order = try harness.order("succeeds")
        order.environment.append("OTHER=1")
        let end = try await harness.run(order).end
        #expect(end?.outcome == .lost, "\(String(describing: end))")
        await harness.end()
    }

    @Test func `a stopped launcher does not keep the host from its end`() async throws {
        let harness = try await LaunchHarness(answerTime: .seconds(1))
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        Foundation.kill(try Self.parent(of: task), SIGSTOP)
        await harness.end()
        #expect(!Self.isAlive(task))
        try await harness.wait(for: "the report") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .lost)
    }

    @Test func `a template that hangs after loading is killed, and its launch comes from another one`()
        async throws
    {
        let harness = try await LaunchHarness()
        let first = try harness.order("expires")
        harness.launcher.launch(first)
        try await harness.wait(for: "ready") { harness.isReady(first.id) }
        let task = try #require(harness.pid(first.id))
        // The oldest child is the template; another one may be a standby, which the next launch then uses.
        let template = try #require(
            Self.children(of: try Self.parent(of: task)).filter { $0 != task }.min())
        Foundation.kill(template, SIGSTOP)
        for _ in 0..<2 {
            let end = try await harness.run(try harness.order("succeeds")).end
            #expect(end?.outcome == .succeeded, "\(String(describing: end))")
        }
        #expect(!Self.isAlive(template))
        #expect(harness.sight(first.id).end == nil)
        #expect(harness.deaths == 0)
        await harness.end()
    }

    /// Row 6 of the faults of isolation: such a launch was *starting* for ever, and could not be cancelled.
    @Test func `a launch whose template hangs ends when it is cancelled`() async throws {
        let harness = try await LaunchHarness()
        let first = try harness.order("expires")
        harness.launcher.launch(first)
        try await harness.wait(for: "ready") { harness.isReady(first.id) }
        let task = try #require(harness.pid(first.id))
        let template = try #require(
            Self.children(of: try Self.parent(of: task)).filter { $0 != task }.min())
        Foundation.kill(template, SIGSTOP)
        // The first one may get a standby, which needs no template.
        let orders = try (0..<3).map { _ in try harness.order("succeeds") }
        for order in orders { harness.launcher.launch(order) }
        for order in orders { harness.launcher.expire(order.id, reason: .cancelledByUser) }
        for order in orders {
            try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        }
        #expect(orders.contains { harness.sight($0.id).end?.outcome == .cancelled })
        await harness.end()
    }

    @Test func `a launch that a template takes with it to its end comes from another one`() async throws {
        let harness = try await LaunchHarness()
        let first = try harness.order("expires")
        harness.launcher.launch(first)
        try await harness.wait(for: "ready") { harness.isReady(first.id) }
        let task = try #require(harness.pid(first.id))
        let template = try #require(
            Self.children(of: try Self.parent(of: task)).first { $0 != task })
        Foundation.kill(template, SIGSTOP)
        let order = try harness.order("succeeds")
        harness.launcher.launch(order)
        // The launcher handles orders one by one. When `other`, which has another template, has run, the
        // stopped template has the first order too.
        var other = try harness.order("succeeds")
        other.environment.append("OTHER=1")
        #expect(try await harness.run(other).end?.outcome == .succeeded)
        try Self.kill(template)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        let end = harness.sight(order.id).end
        #expect(end?.outcome == .succeeded, "\(String(describing: end))")
        await harness.end()
    }

    @Test(arguments: [GroupKill.cgroup, .pidNamespace, .noFork])
    func `a killed launcher loses its launches, leaves no process and is replaced`(_ groupKill: GroupKill)
        async throws
    {
        let harness: LaunchHarness
        do {
            harness = try await LaunchHarness(groupKill: groupKill)
        } catch let error as LauncherError where error.code == .isolationUnavailable {
            print("skipped: \(error)")
            return
        }
        for round in 1...2 {
            let orders = [try harness.order("ignores"), try harness.order("spins")]
            for order in orders { harness.launcher.launch(order) }
            for order in orders {
                try await harness.wait(for: "ready") { harness.isReady(order.id) }
            }
            let tasks = orders.compactMap { harness.pid($0.id) }
            try Self.kill(try Self.parent(of: tasks[0]))
            for order in orders {
                try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
                #expect(harness.sight(order.id).end?.outcome == .lost)
                #expect(harness.sight(order.id).end?.reason == .launcherDied)
            }
            #expect(tasks.filter(Self.isAlive).isEmpty)
            #expect(harness.deaths == round)
            let end = try #require(try await harness.run(try harness.order("succeeds")).end)
            #expect(end.outcome == .succeeded, "\(end)")
        }
        await harness.end()
    }

    @Test func `a host that ends leaves no process and no group`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Self.parent(of: task)
        await harness.end()
        #expect(!Self.isAlive(task) && !Self.isAlive(launcher))
        let finding = harness.launcher.isolation.layers.first { $0.name == "cgroup v2" }?.finding ?? ""
        if harness.launcher.isolation.groupKill == .cgroup { #expect(!SmallFile.exists(finding)) }
    }

    @Test func `a second launcher on the same state waits for the first one's lock`() async throws {
        let first = try await LaunchHarness()
        let waited = AsyncStream.makeStream(of: String.self)
        let second = TaskLauncher(
            configuration: .init(
                runnerPath: Products.path("bgtask-runner"),
                stateDirectory: first.folder.appending(path: "state").path,
                groupKill: .noFork, moments: SystemClocks(), onWaiting: { waited.continuation.yield($0) }),
            onEvent: { _ in })
        let starting = Task { try await second.start() }
        for await message in waited.stream {
            #expect(message.contains("launcher.lock"))
            break
        }
        await first.launcher.shutDown()
        try await starting.value
        await second.shutDown()
        await first.end()
    }

    @Test(.enabled(if: ProcessFacts.isRoot, "only root can leave a cgroup"))
    func `a launch ends when one of its processes has left its cgroup`() async throws {
        let harness = try await LaunchHarness()
        guard harness.launcher.isolation.groupKill == .cgroup else { return await harness.end() }
        let library = try PluginCompiler.compile("leaves_group", into: harness.folder)
        var order = try harness.order("leaves", variable: "STAYS=1", library: library)
        order.handler.manifest.sandbox.subprocesses = true
        let end = try await harness.run(order).end
        // A sandbox may refuse the move; then the handler completes with `false`.
        let isRefused = end?.outcome == .failed && end?.reason == .handlerFailed
        #expect(isRefused || end?.message?.contains("has left the launch's cgroup") == true, "\(end as Any)")
        await harness.end()
    }

    @Test func `groups that are removed while they are empty are made again`() async throws {
        let harness = try await LaunchHarness(templateIdleTime: .milliseconds(1))
        defer { Task { await harness.end() } }
        guard harness.launcher.isolation.groupKill == .cgroup else { return }
        let layer = try #require(harness.launcher.isolation.layers.first { $0.name == "cgroup v2" })
        let base = ControlGroup(path: layer.finding)
        for _ in 0..<2 {
            #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
            // The template and its standby end first.
            try await harness.wait(for: "the removal") {
                for group in base.children() { try? group.remove() }
                return (try? base.remove()) != nil
            }
        }
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `groups of hosts that were killed are removed, and those of living hosts are not`() throws {
        guard case .success(let own) = ControlGroup.own(),
            let base = try? own.child("bgtask-test-\(ProcessFacts.number)")
        else { return }
        defer { try? base.remove() }
        let dead = try own.child("bgtask-00000000000dead0")
        let alive = try own.child("bgtask-0000000000a11ce0")
        defer { try? alive.remove() }
        _ = try dead.child("launch-1")
        let lock = try #require(ControlGroupLock(of: alive))
        GroupPool.removeAbandoned(beside: base, in: own)
        #expect(!SmallFile.exists(dead.path))
        withExtendedLifetime(lock) { #expect(SmallFile.exists(alive.path)) }
        #expect(SmallFile.exists(base.path))
    }
}
