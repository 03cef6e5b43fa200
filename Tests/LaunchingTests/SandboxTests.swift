import Foundation
import Glibc
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// A hostile plugin in every cage, and each layer of the sandbox by itself.
@Suite(.system, .serialized) struct SandboxTests {
    /// Where a launch runs.
    struct Setting: CustomTestStringConvertible, Sendable {
        var cage: CagedRunner.Cage?
        var groupKill: GroupKill
        /// Whether the bundle has a user of its own.
        var hasUser = false

        var testDescription: String {
            let user = hasUser ? "a user per bundle" : cage?.rawValue ?? "this user"
            return "\(user), \(groupKill.rawValue)"
        }

        static let all: [Setting] =
            [.cgroup, .pidNamespace, .noFork].map { Setting(cage: nil, groupKill: $0) }
            + (getuid() == 0 ? caged : [])
        private static let caged: [Setting] =
            [
                Setting(cage: .container, groupKill: .noFork),
                Setting(cage: .ordinaryUser, groupKill: .pidNamespace),
                Setting(cage: .ordinaryUser, groupKill: .noFork),
                Setting(cage: .containerOfUser, groupKill: .noFork),
            ] + [.cgroup, .pidNamespace, .noFork].map { Setting(cage: nil, groupKill: $0, hasUser: true) }
    }

    @Test(arguments: Setting.all)
    func `a hostile plugin gets nothing`(setting: Setting) async throws {
        let field = try await HostileField(setting)
        let got = try await field.attempt("all")
        #expect(got == "nothing")
        for label in ["connections", "readable-attributes", "kernel-files"] {
            let expected = setting.cage?.hasNoNamespaces == true
            let answer = try await field.attempt(label)
            // Only namespaces refuse these; `bgtask doctor` reports namespaces that are missing.
            #expect(expected || answer == "nothing", "\(label): \(answer)")
        }
        #expect(try field.victimIsUnharmed())
        await field.end()
    }

    /// A process that a task has started has its filters.
    @Test(arguments: Setting.all.filter { $0.groupKill != .noFork })
    func `a plugin that may start processes gets nothing from the kernel`(setting: Setting) async throws {
        let field = try await HostileField(setting)
        let answer = try await field.attempt("kernel") { $0.subprocesses = true }
        let words = answer.split(separator: " ").map(String.init)
        let lists: Set = ["keys", "key-users", "kallsyms", "modules", "timer_list"]
        // Only namespaces refuse the lists.
        let expected = setting.cage?.hasNoNamespaces == true ? lists : []
        #expect(words == ["nothing"] || Set(words).isSubset(of: expected), "\(answer)")
        await field.end()
    }

    /// The constructors of a library run in its template, too, which needs rules for its tasks.
    @Test(arguments: Setting.all, [false, true])
    func `a task gets no rules of Landlock`(setting: Setting, subprocesses: Bool) async throws {
        if subprocesses, setting.groupKill == .noFork { return }
        let field = try await HostileField(setting, plugin: "constructor_rules")
        let label = setting.groupKill == .cgroup ? "works" : "all"
        let answer = try await field.attempt(label) { $0.subprocesses = subprocesses }
        #expect(answer == "nothing")
        await field.end()
    }

    @Test(arguments: Setting.all)
    func `a plugin with a port gets no other one`(setting: Setting) async throws {
        let field = try await HostileField(setting)
        let got = try await field.attempt("ports") { $0.network = .connect(ports: [1]) }
        #expect(got == "nothing")
        await field.end()
    }

    @Test(arguments: Setting.all.filter { $0.groupKill != .noFork })
    func `a plugin that may start processes can't signal others`(setting: Setting) async throws {
        let field = try await HostileField(setting)
        let answer = try await field.attempt("signals") { $0.subprocesses = true }
        #expect(answer == "nothing")
        #expect(try field.victimIsUnharmed())
        await field.end()
    }

    @Test(arguments: Setting.all.filter { $0.groupKill != .noFork })
    func `a plugin that may start processes gets no namespaces for them`(setting: Setting) async throws {
        let field = try await HostileField(setting)
        let answer = try await field.attempt("namespaces") { $0.subprocesses = true }
        #expect(answer == "nothing")
        await field.end()
    }

    @Test(arguments: [false, true].filter { !$0 || getuid() == 0 })
    func `a plugin that may start processes can signal its children, but not its template or other tasks`(
        hasUser: Bool
    ) async throws {
        let field = try await HostileField(Setting(cage: nil, groupKill: .cgroup, hasUser: hasUser))
        let answer = try await field.attempt("siblings") { $0.subprocesses = true }
        #expect(answer == "nothing")
        await field.end()
    }

    /// Where one user, or one user namespace, has the processes of a bundle, so that a limit can count them.
    private static let counted = Setting.all.filter {
        $0.groupKill != .noFork && ($0.hasUser || $0.cage == .ordinaryUser)
    }

    @Test(arguments: counted)
    func `processes without end stop at the limit of their bundle, and the next launch runs`(
        setting: Setting
    ) async throws {
        let field = try await HostileField(setting, processLimit: 50, plugin: "forks")
        for _ in 1...2 {
            let answer = try await field.attempt("bomb") { $0.subprocesses = true }.split(separator: " ")
            let count = answer.first.flatMap { Int($0) } ?? 0
            #expect((20..<50).contains(count) && answer.last == "unavailable", "\(answer)")
        }
        await field.end()
    }

    @Test(.enabled(if: getuid() == 0, "only root is exempt from the limits of the kernel"))
    func `where the kernel limits no processes, the host counts them, and kills a launch with too many`()
        async throws
    {
        let harness = try await LaunchHarness(groupKill: .cgroup, processLimit: 50)
        let group = ControlGroup(
            path: harness.launcher.isolation.layers.first { $0.name == "cgroup v2" }?.finding ?? "")
        guard !group.delegatedControllers.contains("pids") else {
            print("skipped: the kernel limits the processes of each group")
            return await harness.end()
        }
        var order = try harness.order("stays")
        order.handler.libraryPath = try PluginCompiler.compile("forks", into: harness.folder)
        order.handler.libraryHash = "forks"
        order.handler.manifest.sandbox.subprocesses = true
        let end = try await harness.run(order).end
        #expect(end?.outcome == .killed)
        #expect(end?.message?.contains("processes and threads; the limit is 50") == true, "\(end as Any)")
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test(.enabled(if: getuid() == 0, "only root is exempt from the limits of the kernel"))
    func `where the host counts, constructors with too many threads end their launch`() async throws {
        let harness = try await LaunchHarness(groupKill: .cgroup, processLimit: 50)
        let group = ControlGroup(
            path: harness.launcher.isolation.layers.first { $0.name == "cgroup v2" }?.finding ?? "")
        guard !group.delegatedControllers.contains("pids") else {
            print("skipped: the kernel limits the processes of each group")
            return await harness.end()
        }
        var order = try harness.order("stays")
        order.handler.libraryPath = try PluginCompiler.compile("constructor_threads", into: harness.folder)
        order.handler.libraryHash = "constructor_threads"
        let end = try await harness.run(order).end
        #expect(end?.reason == .loadFailed)
        #expect(end?.message?.contains("processes and threads; the limit is 50") == true, "\(end as Any)")
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    /// An attempt that only one layer refuses.
    struct Hold: CustomTestStringConvertible, Sendable {
        var layer: SandboxLayer
        var label: String
        var attempt: String
        var change: @Sendable (inout SandboxDeclaration) -> Void = { _ in }

        var testDescription: String { "\(layer.rawValue): \(attempt)" }
    }

    @Test(arguments: [
        Hold(layer: .namespaces, label: "readable-attributes", attempt: "fchmod-readable"),
        Hold(layer: .networkNamespace, label: "connections", attempt: "machine-connections"),
        Hold(layer: .capabilities, label: "capabilities", attempt: "foreign-file"),
        Hold(layer: .landlock, label: "files", attempt: "read-secret"),
        Hold(layer: .landlockPorts, label: "ports", attempt: "connect-port") {
            $0.network = .connect(ports: [1])
        },
        Hold(layer: .landlockScopes, label: "signals", attempt: "kill") { $0.subprocesses = true },
        Hold(layer: .seccomp, label: "signals", attempt: "owner"),
        Hold(layer: .seccomp, label: "signals", attempt: "owner-upper-half"),
        Hold(layer: .seccomp, label: "signals", attempt: "lease"),
        Hold(layer: .seccomp, label: "others", attempt: "prlimit"),
        Hold(layer: .seccomp, label: "kernel", attempt: "keyctl"),
        Hold(layer: .seccomp, label: "sockets", attempt: "socket-1-1"),
    ])
    func `each layer holds something that no other does`(hold: Hold) async throws {
        // Without root, there are no capabilities to give up.
        if hold.layer == .capabilities, getuid() != 0 { return }
        let setting = Setting(cage: nil, groupKill: .cgroup)
        let whole = try await HostileField(setting)
        let words = try await whole.attempt(hold.label, with: hold.change).split(separator: " ").map(
            String.init)
        #expect(!words.contains(hold.attempt), "\(words)")
        await whole.end()
        let open = try await HostileField(setting, without: [hold.layer])
        let more = try await open.attempt(hold.label, with: hold.change).split(separator: " ").map(
            String.init)
        #expect(more.contains(hold.attempt), "\(more)")
        await open.end()
    }

    /// What a bundle could do to another one, by the attempts of the hostile plugin.
    private static let harm: [String: Set<String>] = [
        "files": [
            "read-secret", "write-secret", "create-beside-secret", "unlink-secret", "truncate-secret",
            "symlink",
            "rename", "proc-root",
        ],
        "attributes": ["chmod-secret", "fchmodat-secret", "chown-secret", "touch-secret", "setxattr-secret"],
        "signals": ["kill", "kill-parent", "tgkill", "tkill", "sigqueue", "pidfd"],
        "others": ["prlimit", "setpriority", "affinity", "scheduler", "ioprio"],
        "memory": ["proc-mem", "proc-environ", "proc-fd", "ptrace", "process_vm_readv", "pidfd_getfd"],
    ]

    @Test(
        .enabled(if: getuid() == 0, "only root can give users"), arguments: [true, false])
    func `a user of its own alone keeps a bundle from another one's files and processes`(
        hasUser: Bool
    ) async throws {
        // As the tasks of other tests are: of root, without capabilities.
        let bystander = Process()
        bystander.executableURL = URL(filePath: "/usr/bin/setpriv")
        bystander.arguments = ["--inh-caps=-all", "--bounding-set=-all", "sleep", "600"]
        try bystander.run()
        defer { kill(bystander.processIdentifier, SIGKILL) }
        let niceBefore = getpriority(__priority_which_t(0), id_t(bystander.processIdentifier))
        let others = Set(SandboxLayer.allCases).subtracting([.user])
        let field = try await HostileField(
            Setting(cage: nil, groupKill: .cgroup, hasUser: hasUser), without: others)
        for (label, harm) in Self.harm.sorted(by: { $0.key < $1.key }) {
            // Tasks that may not start processes have a filter that also refuses signals.
            let answer = try await field.attempt(label) { $0.subprocesses = true }
            let got = harm.intersection(answer.split(separator: " ").map(String.init))
            // Without it, the bundles share a user, and the attempts succeed.
            #expect(got.isEmpty == hasUser, "\(label): \(answer)")
        }
        if hasUser { #expect(try field.victimIsUnharmed()) }
        let nice = getpriority(__priority_which_t(0), id_t(bystander.processIdentifier))
        #expect(nice == niceBefore, "the attempts reach processes of other tests")
        await field.end()
    }

    @Test func `a link that replaced a granted directory stops the launch`() async throws {
        let field = try await HostileField(Setting(cage: nil, groupKill: .cgroup))
        try FileManager.default.createSymbolicLink(
            atPath: field.path("granted/link"), withDestinationPath: field.path("secret"))
        var order = try field.order("files") { _ in }
        order.place.grants.read = [field.path("granted/link")]
        let end = try await field.harness.run(order).end
        #expect(end?.outcome != .succeeded)
        #expect(
            end?.message?.contains("the sandbox can't be applied: openat2") == true,
            "\(String(describing: end))")
        await field.end()
    }

    /// Landlock would refuse the link, too, but the link can be gone by then.
    @Test func `the writable mount of a granted directory follows no link`() async throws {
        let field = try await HostileField(Setting(cage: nil, groupKill: .cgroup), without: [.landlock])
        try FileManager.default.createSymbolicLink(
            atPath: field.path("granted/link"), withDestinationPath: field.path("secret"))
        var order = try field.order("files") { _ in }
        order.place.grants.write = [field.path("granted/link")]
        let end = try await field.harness.run(order).end
        #expect(end?.outcome != .succeeded)
        #expect(
            end?.message?.contains("a writable mount of \(field.path("granted/link"))") == true,
            "\(String(describing: end))")
        await field.end()
    }
}

extension CagedRunner.Cage {
    /// Whether the cage refuses namespaces.
    var hasNoNamespaces: Bool { self != .ordinaryUser }
}
