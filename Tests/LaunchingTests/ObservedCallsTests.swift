import Foundation
import Glibc
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// What the record of a launch says about refused and observed calls, with the real runner.
@Suite(.system, .serialized) struct ObservedCallsTests {
    @Test(arguments: GroupKill.allCases)
    func `every launch records which calls the filter refused`(groupKill: GroupKill) async throws {
        let field = try await Field(groupKill)
        let calls = try await field.run("sockets").calls
        #expect(
            calls?.calls == [
                .init(name: "socket", subject: "AF_INET, SOCK_STREAM", use: nil, isRefused: true, count: 3)
            ])
        #expect(calls?.isComplete == false)
        let end = try await field.run("program")
        #expect(end.outcome == .succeeded)
        #expect(end.calls?.refused.map(\.name) == ["clone"], "\(String(describing: end.calls))")
        #expect(end.calls?.refused.first?.grant == "subprocesses: true")
        await field.end()
    }

    @Test func `an ordinary launch has no record of calls`() async throws {
        let field = try await Field(.cgroup)
        #expect(try await field.run("files") { $0.write = [] }.calls == nil)
        #expect(try await field.run("sockets") { $0.network = .all }.calls == nil)
        await field.end()
    }

    @Test(arguments: GroupKill.allCases)
    func `a learning launch records what it used of its grants`(groupKill: GroupKill) async throws {
        let field = try await Field(groupKill)
        let calls = try #require(try await field.run("files", learns: true).calls)
        #expect(calls.isComplete)
        #expect(calls.refused.isEmpty, "\(calls.refused)")
        let made = field.path("written/made")
        let below = field.path("written/below")
        #expect(
            calls.calls == [
                .init(
                    name: "openat", subject: field.path("read/file"), use: .read, isRefused: false, count: 2),
                .init(name: "openat", subject: made, use: .write, isRefused: false, count: 1),
                .init(name: "unlink", subject: made, use: .write, isRefused: false, count: 1),
                .init(name: "openat", subject: field.path("written"), use: .read, isRefused: false, count: 1),
                .init(name: "mkdirat", subject: below, use: .write, isRefused: false, count: 1),
                .init(name: "unlinkat", subject: below, use: .write, isRefused: false, count: 1),
            ])
        await field.end()
    }

    @Test(arguments: GroupKill.allCases)
    func `a learning launch records which files the sandbox refused`(groupKill: GroupKill) async throws {
        let field = try await Field(groupKill)
        let secret = field.path("secret/file")
        let calls = try await field.run("secret", learns: true).calls
        #expect(
            calls?.calls == [
                .init(name: "openat", subject: secret, use: .read, isRefused: true, count: 1),
                .init(name: "openat", subject: secret, use: .write, isRefused: true, count: 1),
            ])
        #expect(
            calls?.refused.map(\.refusal) == [
                "the sandbox refused openat of \(secret) for reading; to permit it: sandbox: {read: [\(secret)]}",
                "the sandbox refused openat of \(secret) for writing; to permit it: sandbox: {write: "
                    + "[\(field.path("secret"))]}",
            ])
        await field.end()
    }

    @Test func `a learning launch records FIFOs and changed permissions as writes`() async throws {
        let field = try await Field(.cgroup)
        let calls = try #require(try await field.run("attributes", learns: true).calls).calls
        #expect(Set(calls.map(\.subject)) == [field.path("written/fifo"), field.path("written/file")])
        #expect(calls.allSatisfy { $0.use == .write && !$0.isRefused }, "\(calls)")
        await field.end()
    }

    @Test(arguments: [GroupKill.cgroup, .pidNamespace])
    func `the calls of a program that the task starts are recorded, too`(groupKill: GroupKill) async throws {
        let field = try await Field(groupKill)
        let calls = try await field.run("program", learns: true) { $0.subprocesses = true }.calls
        #expect(
            calls?.calls == [
                .init(name: "execve", subject: "/bin/cat", use: .execute, isRefused: false, count: 1),
                .init(
                    name: "openat", subject: field.path("secret/file"), use: .read, isRefused: true, count: 1),
            ])
        await field.end()
    }

    @Test func `the record of a learning launch has at most 64 KiB of paths`() async throws {
        let field = try await Field(.cgroup)
        let calls = try #require(try await field.run("long-paths", learns: true).calls)
        let bytes = calls.calls.reduce(0) { $0 + $1.name.utf8.count + ($1.subject?.utf8.count ?? 0) }
        #expect(bytes > 60_000 && bytes <= 65_536)
        #expect(calls.calls.count + calls.further == 400, "\(calls.calls.count), \(calls.further)")
        await field.end()
    }

    @Test func `ports are compared with the grant`() async throws {
        let field = try await Field(.cgroup)
        let calls = try await field.run("ports", learns: true) { $0.network = .connect(ports: [1]) }.calls
        #expect(
            calls?.calls == [
                .init(name: "connect", subject: "port 1", use: .connect, isRefused: false, count: 1),
                .init(name: "connect", subject: "port 2", use: .connect, isRefused: true, count: 1),
            ])
        #expect(calls?.refused.first?.grant == "network: {connect: [2]}")
        await field.end()
    }

    @Test func `a launch that fails logs what was refused`() async throws {
        let field = try await Field(.cgroup)
        let order = try field.order("fails", learns: true)
        let sight = try await field.harness.run(order)
        var lines: [String] = []
        for case .log(_, .warning, let message, _, _) in sight.events { lines.append(message) }
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("the sandbox refused openat of \(field.path("secret/file"))") == true)
        #expect(lines.last?.hasSuffix("to permit it: sandbox: {network: true}") == true, "\(lines)")
        await field.end()
    }

    @Test func `a task that repeats a refused call is slowed down, and no other`() async throws {
        let field = try await Field(.cgroup)
        let storm = try field.order("storm")
        field.harness.launcher.launch(storm)
        try await field.harness.wait(for: "the storm") { field.harness.isReady(storm.id) }
        // The launcher serves another bundle's launch meanwhile, and answers all calls in the end.
        var other = try field.order("sockets")
        other.handler.manifest.sandbox.environment = ["LANG"]
        #expect(try await field.harness.run(other).end?.calls?.refused.first?.count == 3)
        try await field.harness.wait(for: "the end of the storm") {
            field.harness.sight(storm.id).end != nil
        }
        #expect(field.harness.sight(storm.id).end?.calls?.refused.first?.count == 2500)
        await field.end()
    }

    @Test func `signals from a deep tree of processes cost the launcher a few reads each`() async throws {
        let field = try await Field(.cgroup)
        let waiting = try field.harness.order("expires")
        field.harness.launcher.launch(waiting)
        try await field.harness.wait(for: "ready") { field.harness.isReady(waiting.id) }
        let task = try #require(field.harness.pid(waiting.id))
        let launcher = try #require(try Self.parent(of: task))
        let before = try Self.reads(of: launcher)
        let end = try await field.run("tree") { $0.subprocesses = true }
        #expect(end.outcome == .succeeded, "\(end)")
        let reads = try Self.reads(of: launcher) - before
        // 400 signals, 40 levels below the task. The launcher looks at the sender and at the receiver.
        #expect(reads >= 400 && reads < 400 * 6, "\(reads) reads")
        field.harness.launcher.expire(waiting.id, reason: .simulated)
        try await field.harness.wait(for: "end") { field.harness.sight(waiting.id).end != nil }
        await field.end()
    }

    /// How many calls read something, since the start of the process.
    private static func reads(of process: Int32) throws -> Int {
        let lines = try SmallFile.read("/proc/\(process)/io").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("syscr: ") })
        return try #require(Int(line.dropFirst(7)))
    }

    private static func parent(of process: Int32) throws -> Int32? {
        let lines = try SmallFile.read("/proc/\(process)/status").split(separator: "\n")
        return lines.first { $0.hasPrefix("PPid:\t") }.flatMap { Int32($0.dropFirst(6)) }
    }

    /// Whether this process has a filter of system calls, which its children inherit.
    private static func hasFilter() throws -> Bool {
        try !SmallFile.read("/proc/self/status").contains("\nSeccomp:\t0\n")
    }

    @Test(arguments: SandboxTests.Setting.all)
    func `a hostile plugin's attempts are in its record`(setting: SandboxTests.Setting) async throws {
        let field = try await HostileField(setting)
        var order = try field.order("all") { _ in }
        order.observation = .all
        let end = try #require(try await field.harness.run(order).end)
        #expect(end.message == "nothing")
        let calls = try #require(end.calls)
        let names = Set(calls.refused.map(\.name))
        var wanted: Set = [
            "add_key", "bpf", "chmod", "chown", "chroot", "clock_settime", "clone", "connect", "execveat",
            "fanotify_init", "fchmod", "fchmodat", "fcntl", "init_module", "io_uring_setup", "ioctl",
            "ioprio_set", "kcmp", "keyctl", "kill", "memfd_create", "mount", "openat", "perf_event_open",
            "pidfd_open", "prlimit64", "process_vm_readv", "ptrace", "rename", "request_key",
            "rt_sigqueueinfo", "sched_setaffinity", "sched_setscheduler", "sethostname", "setpriority",
            "setxattr", "socket", "socketpair", "syslog", "tgkill", "tkill", "truncate", "umount2", "unlink",
            "unshare", "userfaultfd", "utimensat",
        ]
        if setting.cage?.hasNoNamespaces == true {
            // The container's own filter refuses these, so the kernel does not ask the runner's.
            wanted.subtract(["mount", "unshare"])
            // In all others, the launch has a namespace without the segment.
            wanted.insert("shmat")
        }
        // In a container with a filter, such as that of systemd-nspawn, the same holds for these.
        if try Self.hasFilter() {
            wanted.subtract(["clock_settime", "fanotify_init", "init_module", "syslog"])
        }
        #expect(wanted.subtracting(names).isEmpty, "missing: \(wanted.subtracting(names))")
        let attributes = calls.refused.first { $0.name == "chmod" && $0.subject == field.path("secret/file") }
        #expect(attributes != nil)
        let paths = Set(calls.refused.compactMap(\.subject))
        let wantedPaths: Set = ["/etc/shadow", "/root", "/tmp/hostile-made-this", field.path("secret/file")]
        #expect(wantedPaths.subtracting(paths).isEmpty, "missing: \(wantedPaths.subtracting(paths))")
        await field.end()
    }

    @Test(arguments: GroupKill.allCases)
    func `signals to other processes are in the record, and those of a task to itself are not`(
        groupKill: GroupKill
    ) async throws {
        let field = try await Field(groupKill)
        let calls = try await field.run("signals").calls
        // In a PID namespace, process 1 is its init, which is not the task either.
        #expect(
            calls?.calls == [
                .init(name: "kill", subject: "process 1, signal 0", use: nil, isRefused: true, count: 2),
                .init(name: "tgkill", subject: "process 1, signal 0", use: nil, isRefused: true, count: 1),
                .init(
                    name: "rt_sigqueueinfo", subject: "process 1, signal 0", use: nil, isRefused: true,
                    count: 1),
                .init(name: "pidfd_open", subject: "process 1", use: nil, isRefused: true, count: 1),
                .init(name: "kill", subject: "all processes, signal 0", use: nil, isRefused: true, count: 1),
                .init(name: "clone", subject: nil, use: nil, isRefused: true, count: 1),
            ])
        #expect(calls?.refused.first?.refusal.hasSuffix("no grant permits it") == true)
        await field.end()
    }

    @Test(arguments: [GroupKill.cgroup, .pidNamespace])
    func `with subprocesses, signals out of the launch are in the record, and those in it are not`(
        groupKill: GroupKill
    ) async throws {
        let field = try await Field(groupKill)
        guard field.harness.launcher.isolation.sandbox.contains(.landlockScopes) else {
            print("skipped: the kernel has no scopes of Landlock")
            return await field.end()
        }
        let end = try await field.run("signals") { $0.subprocesses = true }
        #expect(end.outcome == .succeeded, "\(end)")
        #expect(
            end.calls?.calls.map(\.name) == ["kill", "tgkill", "rt_sigqueueinfo", "pidfd_send_signal"],
            "\(String(describing: end.calls))")
        await field.end()
    }

    @Test func `a hostile plugin can't fill its record with one call`() async throws {
        let field = try await Field(.cgroup)
        var order = try field.harness.order("all")
        order.handler.libraryPath = try PluginCompiler.compile("hostile", into: field.harness.folder)
        order.handler.libraryHash = "hostile"
        order.environment.append("VICTIM_PROCESS=1")
        let calls = try #require(try await field.harness.run(order).end?.calls)
        let names = Set(calls.refused.map(\.name))
        // It tries 276 kinds of sockets before the others.
        let wanted: Set = ["socket", "ptrace", "keyctl", "bpf", "mount", "prlimit64", "clone", "kcmp"]
        #expect(wanted.subtracting(names).isEmpty, "missing: \(wanted.subtracting(names)), \(names)")
        #expect(calls.refused.filter { $0.name == "socket" }.count <= 17, "\(calls)")
        await field.end()
    }

    @Test func `the host judges files by the runner's own lists`() throws {
        let source = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(
                    path: "Sources/Runner/bgtask-runner/sandbox_files.c"), encoding: .utf8)
        func list(_ name: String) throws -> [String] {
            let start = try #require(source.range(of: "const \(name)[] = {"))
            let end = try #require(source[start.upperBound...].range(of: "}"))
            return source[start.upperBound..<end.lowerBound].matches(of: #/"([^"]+)"/#).map { String($0.1) }
        }
        #expect(try list("libraries") == FileRules.libraries)
        #expect(try list("usual") == FileRules.usual)
        #expect(try list("for_network") == FileRules.forNetwork)
        #expect(try list("programs") == FileRules.programs)
        #expect(try list("devices") == FileRules.devices)
    }

    @Test func `a path is judged after its links are followed`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)")
        let files = FileManager.default
        for name in ["granted", "secret"] {
            try files.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        defer { try? files.removeItem(at: folder) }
        try Data().write(to: folder.appending(path: "secret/file"))
        try files.createSymbolicLink(
            at: folder.appending(path: "granted/out"), withDestinationURL: folder.appending(path: "secret"))
        var rules = FileRules(
            own: [], libraries: [], grants: FileGrants(), devices: [], mayUseNetwork: false,
            mayStartProcesses: false)
        rules.grants.read = [folder.appending(path: "granted").path]
        #expect(rules.verdict(on: folder.appending(path: "granted/out/file").path, .read) == .refused)
        #expect(rules.verdict(on: folder.appending(path: "granted/none").path, .read) == .always)
        #expect(rules.verdict(on: folder.appending(path: "granted/../granted").path, .read) == .granted)
        #expect(rules.verdict(on: folder.appending(path: "granted/new").path, .write) == .refused)
        #expect(rules.verdict(on: "/proc/self/maps", .read) == .always)
        #expect(rules.verdict(on: "/proc/self/oom_score_adj", .write) == .refused)
        #expect(rules.verdict(on: "/dev/null", .write) == .always)
    }

    @Test func `mkdir of a directory that exists is no refusal`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)")
        let out = folder.appending(path: "out")
        try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var rules = FileRules(
            own: [], libraries: [], grants: FileGrants(), devices: [], mayUseNetwork: false,
            mayStartProcesses: false)
        rules.grants.write = [out.path]
        func call(_ name: String, _ path: URL) -> ObservedCalls.Call {
            ObservedCalls.Call(name: name, subject: path.path, use: .write, isRefused: false, count: 1)
        }
        let judge = CallJudge(
            calls: [
                call("mkdir", folder), call("mkdirat", out), call("mkdir", folder.appending(path: "new")),
                call("openat", folder),
            ], further: 0, isComplete: true, rules: rules, network: nil)
        let calls = try #require(judge.judged()).calls
        #expect(calls.map(\.isRefused) == [false, true, true])
        #expect(calls.map(\.name) == ["mkdirat", "mkdir", "openat"], "mkdir fails with EEXIST everywhere")
    }
}

/// A launcher with files that are granted or not.
private struct Field {
    let harness: LaunchHarness
    let library: String

    init(_ groupKill: GroupKill) async throws {
        harness = try await LaunchHarness(groupKill: groupKill)
        library = try PluginCompiler.compile("uses", into: harness.folder.appending(path: "library"))
        for name in ["read", "written", "secret"] {
            try FileManager.default.createDirectory(
                at: harness.folder.appending(path: name), withIntermediateDirectories: false)
            try Data("text".utf8).write(to: harness.folder.appending(path: name).appending(path: "file"))
        }
    }

    func path(_ name: String) -> String { harness.folder.appending(path: name).path }

    func order(
        _ label: String, learns: Bool = false, with change: (inout SandboxDeclaration) -> Void = { _ in }
    ) throws -> LaunchOrder {
        var order = try harness.order(label)
        order.handler.libraryPath = library
        order.handler.libraryHash = "uses"
        change(&order.handler.manifest.sandbox)
        order.place.grants.read = [path("read")]
        order.place.grants.write = [path("written")]
        order.environment += [
            "USE_READ=\(path("read/file"))", "USE_WRITE=\(path("written"))",
            "USE_SECRET=\(path("secret/file"))",
        ]
        if learns { order.observation = .all }
        return order
    }

    func run(
        _ label: String, learns: Bool = false, with change: (inout SandboxDeclaration) -> Void = { _ in }
    ) async throws -> LaunchEnd {
        try #require(try await harness.run(order(label, learns: learns, with: change)).end)
    }

    func end() async { await harness.end() }
}
