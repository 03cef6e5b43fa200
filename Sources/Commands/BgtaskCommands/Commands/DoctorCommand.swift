import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct DoctorCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Shows which isolation this machine and the host offer, and how to get what is missing.",
        discussion: """
            Without a host, the command shows what the kernel offers. With one, it also shows what the host uses.

            Examples:
              bgtask doctor
              bgtask doctor --json
            """)

    @OptionGroup var common: CommonOptions

    private struct Answer: Encodable {
        var version: String
        var socket: String
        var machine: [MachineCheck]
        @Explicit var host: ReportMessage?
        @Explicit var hostProblem: String?
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let machine = MachineCheck.all()
        var report: ReportMessage?
        var problem: String?
        do throws(ControlClientError) {
            report = try await client.report()
        } catch {
            problem = Console.message(for: error, tried: common.candidates).description
        }
        if console.json {
            var answer = Answer(version: ProductVersion.current, socket: client.socketPath, machine: machine)
            answer.host = report
            answer.hostProblem = problem
            return try console.print(json: answer)
        }
        try console.line(console.style.bold("Machine"))
        for check in machine { try console.print(mark: check.isAvailable, check.name, check.finding) }
        try console.line()
        try console.line(console.style.bold("Host"))
        guard let report else { return try console.line("  " + Printable.text(problem ?? "")) }
        try console.line("  the host kills a launch with all its processes by: \(report.groupKill.rawValue)")
        if let better = Self.better(than: report.groupKill) { try console.line("  " + better) }
        for layer in report.layers { try console.print(mark: layer.isAvailable, layer.name, layer.finding) }
        if let sandbox = report.sandbox {
            for layer in SandboxLayer.allCases where !sandbox.contains(layer) {
                try console.print(mark: nil, "to get \(layer.rawValue)", layer.remedy)
            }
        }
        for problem in report.problems ?? [] {
            try console.print(mark: false, "configuration", problem.problem.description)
        }
        for fact in report.facts { try console.print(mark: nil, fact.name, fact.value) }
    }
}

extension DoctorCommand {
    /// What the host would use in the place of a fall-back, and how to get it; `nil` for the first choice.
    private static func better(than used: GroupKill) -> String? {
        let order = "The order of choice is: cgroup, pidNamespace, noFork"
        let command = "systemd-run --user --scope -p Delegate=yes bgtaskd ..."
        return switch used {
        case .cgroup: nil
        case .pidNamespace: "\(order). To get a cgroup: \(command)"
        case .noFork:
            "\(order). To get a cgroup: \(command). To get PID namespaces: \(SandboxLayer.namespaces.remedy)"
        }
    }
}

extension Console {
    /// Writes one finding as `  yes  name: finding`; a `nil` mark leaves the place of `yes` blank.
    fileprivate func print(mark: Bool?, _ name: String, _ finding: String) throws {
        let word = mark.map { $0 ? style.green("yes") : style.yellow("no ") } ?? "   "
        try line("  \(word)  \(Printable.text(name)): \(Printable.text(finding))")
    }
}

/// A kernel feature that isolation or scheduling uses; the check for it needs no privilege.
struct MachineCheck: Codable, Equatable {
    var name: String
    var isAvailable: Bool
    /// What the check found and, if the feature is missing, what to do.
    var finding: String

    static func all() -> [MachineCheck] {
        [cgroup(), userNamespaces(), seccomp(), pressure()]
    }

    private static func cgroup() -> MachineCheck {
        switch ControlGroup.own() {
        case .failure(let finding):
            return MachineCheck(
                name: "cgroup v2", isAvailable: false,
                finding: "\(finding.text); a PID namespace or a no-fork filter is used instead"
                    + (finding.remedy.map { "; \($0)" } ?? ""))
        case .success(let group):
            let isOurs = SmallFile.isWritable(group.path)
            return MachineCheck(
                name: "cgroup v2", isAvailable: isOurs,
                finding: isOurs
                    ? "\(group.path) is writable"
                    : "\(group.path) is not writable; put this before the host's command: systemd-run --user --scope -p Delegate=yes"
            )
        }
    }

    private static func userNamespaces() -> MachineCheck {
        let most = text("/proc/sys/user/max_user_namespaces").flatMap(Int.init) ?? 0
        let isOff = text("/proc/sys/kernel/unprivileged_userns_clone") == "0"
        return MachineCheck(
            name: "user namespaces", isAvailable: most > 0 && !isOff,
            finding: isOff
                ? "kernel.unprivileged_userns_clone is 0; set it to 1: sysctl kernel.unprivileged_userns_clone=1"
                : "user.max_user_namespaces is \(most)")
    }

    private static func seccomp() -> MachineCheck {
        let actions = text("/proc/sys/kernel/seccomp/actions_avail")
        return MachineCheck(
            name: "seccomp", isAvailable: actions != nil,
            finding: actions.map { "the kernel supports \($0)" } ?? "the kernel was built without it")
    }

    private static func pressure() -> MachineCheck {
        let isThere = text("/proc/pressure/cpu") != nil
        return MachineCheck(
            name: "pressure", isAvailable: isThere,
            finding: isThere
                ? "/proc/pressure exists" : "the kernel has no /proc/pressure; boot it with psi=1")
    }

    private static func text(_ path: String) -> String? {
        (try? SmallFile.read(path)).map { FirstLine.of($0.utf8) }
    }
}
