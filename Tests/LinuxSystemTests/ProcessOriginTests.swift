import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

/// Which processes are said to belong to launches; `sleep` plays the client and `sh` its shell.
@Suite(.system) struct ProcessOriginTests {
    /// A shell and the command in it, both of which run until ``end()``.
    private struct Shell {
        let process = Process()
        let command: Int32
        private let output = Pipe()

        init() throws {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            // Without the last command, the shell would replace itself by `sleep`.
            process.arguments = ["-c", "sleep 1000 & echo $!; wait; true"]
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            command = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        func end() {
            kill(command, SIGKILL)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    @Test func `a descendant of the launcher belongs to a launch`() throws {
        let shell = try Shell()
        defer { shell.end() }
        let launcher = getpid()
        let origins = ProcessOrigins()
        for pid in [shell.command, shell.process.processIdentifier] {
            #expect(
                origins.origin(of: pid, nil, among: LaunchedProcesses(launcher: launcher))
                    == .launch("descends from the launcher, process \(launcher)"))
        }
    }

    @Test func `a process beside the launcher comes from elsewhere, the first time and later`() throws {
        let (one, other) = (try Shell(), try Shell())
        defer { for shell in [one, other] { shell.end() } }
        let launched = LaunchedProcesses(launcher: one.process.processIdentifier)
        let origins = ProcessOrigins()
        for _ in 0..<2 {
            #expect(origins.origin(of: other.command, nil, among: launched) == .elsewhere)
            #expect(origins.origin(of: getpid(), nil, among: launched) == .elsewhere)
        }
        #expect(
            origins.origin(of: one.command, nil, among: launched)
                == .launch("descends from the launcher, process \(one.process.processIdentifier)"))
    }

    @Test(.enabled(if: getuid() == 0, "only root can start a process of another user"))
    func `a process of a bundle's user belongs to a launch, wherever it descends from`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = ["--reuid=70003", "--clear-groups", "sleep", "1000"]
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        let pid = process.processIdentifier
        while ProcessOrigin.groups(of: pid) != []
            || (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) != "sleep\n"
        {
            sched_yield()
        }
        let origins = ProcessOrigins()
        let users = LaunchedProcesses(users: 70_000...70_009)
        #expect(origins.origin(of: pid, nil, among: users) == .launch("has the user of a bundle"))
        let others = LaunchedProcesses(users: 80_000...80_009)
        #expect(origins.origin(of: pid, nil, among: others) == .elsewhere)
    }

    @Test func `another launcher makes the memory void`() throws {
        let (one, other) = (try Shell(), try Shell())
        defer { for shell in [one, other] { shell.end() } }
        let origins = ProcessOrigins()
        let first = LaunchedProcesses(launcher: one.process.processIdentifier)
        #expect(origins.origin(of: other.command, nil, among: first) == .elsewhere)
        let second = LaunchedProcesses(launcher: other.process.processIdentifier)
        #expect(
            origins.origin(of: other.command, nil, among: second)
                == .launch("descends from the launcher, process \(other.process.processIdentifier)"))
    }

    @Test func `a remembered process in the launches' cgroup belongs to a launch`() throws {
        guard let group = TestGroup.make() else { return }
        defer { try? group.remove() }
        let (one, other) = (try Shell(), try Shell())
        defer { for shell in [one, other] { shell.end() } }
        let name = try #require(group.path.split(separator: "/").last)
        let launched = LaunchedProcesses(launcher: one.process.processIdentifier, group: String(name))
        let origins = ProcessOrigins()
        #expect(origins.origin(of: other.command, nil, among: launched) == .elsewhere)
        try SmallFile.write("\(other.command)", to: group.path + "/cgroup.procs")
        guard case .launch(let finding) = origins.origin(of: other.command, nil, among: launched) else {
            Issue.record("A process in the cgroup was taken for one from elsewhere.")
            return
        }
        #expect(finding.hasPrefix("is in the cgroup "))
    }

    @Test func `a process that has ended can't be examined`() throws {
        let shell = try Shell()
        let handle = try ProcessHandle(of: shell.process.processIdentifier)
        shell.end()
        let origin = ProcessOrigins().origin(
            of: shell.process.processIdentifier, handle, among: LaunchedProcesses(launcher: 1))
        #expect(origin == .ended)
    }

    @Test func `groups are read while the process is held`() throws {
        var groups: [UInt32] = []
        let origin = ProcessOrigins().origin(of: getpid(), nil, among: LaunchedProcesses()) {
            groups = ProcessOrigin.groups(of: getpid())
        }
        #expect(origin == .elsewhere)
        var own = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(own.count), &own)
        #expect(groups.sorted() == own.prefix(Int(count)).sorted())
    }

    @Test func `a full memory forgets the oldest processes, and still answers`() throws {
        let (one, other) = (try Shell(), try Shell())
        defer { for shell in [one, other] { shell.end() } }
        let launched = LaunchedProcesses(launcher: one.process.processIdentifier)
        let origins = ProcessOrigins(limit: 1)
        for _ in 0..<3 { #expect(origins.origin(of: other.command, nil, among: launched) == .elsewhere) }
    }

    @Test func `processes have identities of their own`() throws {
        let (one, other) = (try Shell(), try Shell())
        defer { for shell in [one, other] { shell.end() } }
        let first = try ProcessHandle(of: one.command)
        guard let identity = first.identity else {
            print("skipped: kernels before 6.9 give processes no identities")
            return
        }
        #expect(identity == (try ProcessHandle(of: one.command)).identity)
        #expect(identity != (try ProcessHandle(of: other.command)).identity)
    }
}
