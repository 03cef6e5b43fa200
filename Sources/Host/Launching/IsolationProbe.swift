import LinuxSystem
public import TaskModel

/// Finds out, at the start of the host, how this machine can end all processes of a launch for certain.
struct IsolationProbe: Sendable {
    /// All layers of isolation with their availability, and the layer that the host uses.
    let report: IsolationReport
    /// The parent of this host's cgroups; `nil` if cgroups are not used.
    let groups: ControlGroup?
    /// Whether the launcher gets reports of the calls that the filter refuses.
    let reportsCalls: Bool

    /// Advice for a host that has no cgroup of its own.
    static let howToGetGroup =
        "to give the host its own cgroup, put this before its command: systemd-run --user --scope -p Delegate=yes"

    /// Probes the machine; makes system calls that may block for a short time.
    ///
    /// - Parameters:
    ///   - stateDirectory: The state directory; its hash names the host's cgroup, so that two hosts do not
    ///     use the same group.
    ///   - runnerPath: The path of the `bgtask-runner` program, which tries the layers.
    ///   - wanted: The layer to use; `nil` takes the strongest available one.
    ///   - users: The numbers of the users of bundles; `nil` if launches run as the host's user.
    /// - Throws: ``LauncherError`` if the wanted layer, or any layer, is not available.
    init(
        stateDirectory: String, runnerPath: String, wanted: GroupKill?, users: ClosedRange<UInt32>? = nil
    ) throws(LauncherError) {
        let (groupLayer, base) = Self.probeGroups(stateDirectory)
        let namespaceLayer = Self.probeNamespaces(runnerPath)
        let seccompLayer = Self.probeSeccomp(runnerPath)
        let found: [(GroupKill, IsolationReport.Layer)] = [
            (.cgroup, groupLayer), (.pidNamespace, namespaceLayer), (.noFork, seccompLayer),
        ]
        let layers = found.map(\.1)
        if let wanted {
            guard let layer = found.first(where: { $0.0 == wanted })?.1, layer.isAvailable else {
                let finding = found.first { $0.0 == wanted }?.1.finding ?? ""
                throw LauncherError(
                    code: .isolationUnavailable, subject: wanted.rawValue, finding: finding,
                    remedy:
                        "Set 'isolation' (--isolation) to 'strongest': the host then uses what this machine offers"
                )
            }
        }
        guard let used = wanted ?? found.first(where: { $0.1.isAvailable })?.0 else {
            throw LauncherError(
                code: .isolationUnavailable, subject: "isolation",
                finding: layers.map { "\($0.name): \($0.finding)" }.joined(separator: "; "),
                remedy: "The host runs no handler without isolation; " + Self.howToGetGroup)
        }
        groups = used == .cgroup ? base : nil
        var sandbox = Self.probeSandbox(runnerPath)
        sandbox[.user] = Self.probeUser(runnerPath, users?.lowerBound, stateDirectory)
        let reports = Self.probeReports(runnerPath)
        reportsCalls = reports.isAvailable
        // The kernel limits no processes of root; see Documentation/Decisions/0056-a-limit-of-processes.md.
        let countsProcesses = ProcessFacts.isRoot && sandbox[.user]?.isAvailable != true
        report = IsolationReport(
            groupKill: used,
            layers: layers + (groups.map { Self.delegate(to: $0, countsProcesses: countsProcesses) } ?? [])
                + SandboxLayer.allCases.compactMap { sandbox[$0] }
                + [reports, Self.probeNetworkCount(groups)],
            sandbox: Set(sandbox.filter(\.value.isAvailable).keys))
    }

    private static func probeGroups(_ stateDirectory: String) -> (IsolationReport.Layer, ControlGroup?) {
        func missing(
            _ finding: String, remedy: String = howToGetGroup
        ) -> (IsolationReport.Layer, ControlGroup?) {
            (.init(name: "cgroup v2", isAvailable: false, finding: "\(finding); \(remedy)"), nil)
        }
        switch ControlGroup.own() {
        case .failure(let finding):
            return missing(finding.text, remedy: finding.remedy ?? howToGetGroup)
        case .success(let own):
            do {
                let base = try own.child(GroupPool.prefix + hash(of: stateDirectory))
                guard SmallFile.isWritable(base.path + "/cgroup.kill") else {
                    try base.remove()
                    return missing("the kernel has no cgroup.kill, which requires Linux 5.14")
                }
                GroupPool.removeAbandoned(beside: base, in: own)
                return (.init(name: "cgroup v2", isAvailable: true, finding: base.path), base)
            } catch {
                return missing("\(error)")
            }
        }
    }

    /// The cgroup controllers that launches use.
    ///
    /// With them, the kernel enforces memory limits and limits the number of processes, and the host can
    /// halve the CPU weight of a launch.
    static let wantedControllers: Set<String> = ["cpu", "memory", "pids"]

    /// Enables the controllers for this host's groups, as far as the machine and the service manager permit.
    ///
    /// - Parameters:
    ///   - base: The parent of this host's groups.
    ///   - countsProcesses: Whether the host counts the processes of each launch if the kernel does not.
    /// - Returns: One layer for the report.
    static func delegate(
        to base: ControlGroup, countsProcesses: Bool = false
    ) -> [IsolationReport.Layer] {
        // The host's own group, unless it has moved to a child of it.
        let own = base.parent
        let there = wantedControllers.intersection(own.controllers)
        let isEmpty = there.isEmpty || own.isRoot || leave(own)
        // The kernel would enable the controllers cpu and pids in a group with processes, but then no process
        // could be started in the groups below.
        if isEmpty { _ = own.delegate(there) }
        let got = base.delegate(there)
        let missing = wantedControllers.subtracting(got).sorted().joined(separator: ", ")
        return [
            IsolationReport.Layer(
                name: "controllers", isAvailable: got == wantedControllers,
                finding: missing.isEmpty
                    ? "cpu, memory and pids"
                    : (isEmpty
                        ? "the host is not permitted to use \(missing). " : otherProcesses(in: own, missing))
                        + (got.contains("memory") ? "" : "It checks memory limits once a second. ")
                        + (got.contains("cpu")
                            ? "" : "It does not slow a launch that has used half of its CPU limit. ")
                        + (got.contains("pids")
                            ? ""
                            : countsProcesses
                                ? "It counts the processes of each launch itself. "
                                : "It limits the processes of a bundle, and not those of each launch. ")
                        + "To permit this, start it as a systemd service with Delegate=yes")
        ]
    }

    private static func otherProcesses(in own: ControlGroup, _ missing: String) -> String {
        let others = own.processes.filter { $0 != ProcessFacts.number }.map(String.init).joined(
            separator: ", ")
        return "the host can't use \(missing), because other processes are in its cgroup: \(others). "
    }

    /// Moves the host to a child of its group, unless it has left it; returns whether no process is left
    /// there.
    private static func leave(_ own: ControlGroup) -> Bool {
        if own.processes == [ProcessFacts.number], let aside = try? own.child("bgtask-host") {
            try? aside.take(ProcessFacts.number)
        }
        return own.processes.isEmpty
    }

    /// Tries one isolation with a real process; returns why it does not work, or `nil` if it does.
    ///
    /// What the kernel says of itself is not enough: a container's filter, or a security module such as
    /// AppArmor, can refuse the clone or the mount that a launch needs.
    private static func failure(of isolation: GroupKill, _ runnerPath: String) -> String? {
        failure(of: isolation.rawValue, runnerPath)
    }

    /// Tries every layer of the sandbox.
    private static func probeSandbox(_ runnerPath: String) -> [SandboxLayer: IsolationReport.Layer] {
        var layers: [SandboxLayer: IsolationReport.Layer] = [:]
        for layer in SandboxLayer.allCases where layer != .user {
            let failure = failure(of: layer.rawValue, runnerPath)
            layers[layer] = IsolationReport.Layer(
                name: "sandbox: \(layer.title)", isAvailable: failure == nil,
                finding: failure.map { "\($0); \(layer.lossWithoutIt)" } ?? "an attempt succeeded")
        }
        return layers
    }

    /// Tries whether a process can become the user of a bundle, who must then reach the state directory.
    private static func probeUser(
        _ runnerPath: String, _ user: UInt32?, _ directory: String
    ) -> IsolationReport.Layer {
        func missing(_ finding: String) -> IsolationReport.Layer {
            .init(
                name: "sandbox: \(SandboxLayer.user.title)", isAvailable: false,
                finding: "\(finding); \(SandboxLayer.user.lossWithoutIt)")
        }
        guard FileContents.isRoot else { return missing("only root can give each bundle a user of its own") }
        guard let user else { return missing("the setting 'isolation.users' is 'none'") }
        switch code(of: ["user", "\(user)", directory], runnerPath) {
        case .success(0):
            return .init(
                name: "sandbox: \(SandboxLayer.user.title)", isAvailable: true,
                finding: "an attempt succeeded")
        case .success(SystemCallError.accessDenied):
            return missing(
                "user \(user) can't reach \(directory): other users must be able to search all directories on "
                    + "the way (chmod o+x), or 'paths.state' must name another directory")
        case .success(Self.withoutEffect):
            return missing("an attempt to become user \(user) had no effect, or a signal ended it")
        case .success(let code):
            return missing(
                "an attempt to become user \(user) failed: \(SystemCallError.text(of: code)). In a container, "
                    + "'isolation.users' must be a range of users that the container has")
        case .failure(let finding): return missing(finding.text)
        }
    }

    /// Tries whether the kernel reports refused calls to the launcher.
    private static func probeReports(_ runnerPath: String) -> IsolationReport.Layer {
        let failure = failure(of: "reports", runnerPath)
        return IsolationReport.Layer(
            name: "record of refused calls", isAvailable: failure == nil,
            finding: failure.map {
                "\($0); launches do not record what the sandbox refuses. This requires Linux 5.5, and no "
                    + "container whose own filter reports calls"
            } ?? "an attempt succeeded")
    }

    /// Tries whether the kernel counts the network bytes of a group.
    private static func probeNetworkCount(_ base: ControlGroup?) -> IsolationReport.Layer {
        func layer(_ failure: String?) -> IsolationReport.Layer {
            .init(
                name: "count of network bytes", isAvailable: failure == nil,
                finding: failure.map {
                    "\($0); the records of launches do not say what they send and receive"
                }
                    ?? "an attempt succeeded")
        }
        guard let base else { return layer("launches have no cgroups") }
        do throws(SystemCallError) {
            try Self.countOnce(in: base)
            return layer(nil)
        } catch {
            return layer(
                "an attempt failed: \(SystemCallError.text(of: error.code)). This requires a host of root, and "
                    + "no container that refuses bpf(2)")
        }
    }

    /// Counts the bytes of a group without processes, and removes it.
    private static func countOnce(in base: ControlGroup) throws(SystemCallError) {
        // Another host that starts at the same time may take these groups, which have no process and no lock
        // yet, for abandoned ones, and remove them. Our choice: two such hosts.
        for attemptsLeft in [2, 1, 0] {
            do throws(SystemCallError) {
                let group = try base.child("count")
                defer { try? group.remove() }
                _ = try NetworkCounter(of: group)
                return
            } catch {
                guard attemptsLeft > 0 else { throw error }
                _ = try? base.create()
            }
        }
    }

    private static func failure(of isolation: String, _ runnerPath: String) -> String? {
        switch code(of: [isolation], runnerPath) {
        case .success(0): nil
        case .success(Self.withoutEffect): "an attempt had no effect, or a signal ended it"
        case .success(let code): "an attempt failed: \(SystemCallError.text(of: code))"
        case .failure(let finding): finding.text
        }
    }

    /// The status of an attempt after which a task could still do what the isolation should prevent.
    private static let withoutEffect: CInt = 71

    /// Why an attempt has no result.
    private struct Finding: Error { let text: String }

    /// Runs `bgtask-runner probe` with the words of an attempt.
    ///
    /// - Returns: 0 if the attempt succeeded, else the error number of the step that failed; a ``Finding`` if
    ///   the attempt did not end by itself.
    private static func code(of attempt: [String], _ runnerPath: String) -> Result<CInt, Finding> {
        do throws(SystemCallError) {
            let process = try started(["probe"] + attempt, runnerPath)
            // An attempt takes a few milliseconds. On a very busy machine, a short limit would leave out a
            // layer that works, and every task would then be confined less.
            guard process.waitForEnd(timeoutMilliseconds: 30_000) else {
                process.kill()
                _ = try? process.reap()
                return .failure(Finding(text: "an attempt did not end within 30 s"))
            }
            let status = ExitStatus(waitStatus: UInt64(UInt32(bitPattern: try process.reap())))
            guard let code = status.code else { return .failure(Finding(text: "a signal ended an attempt")) }
            return .success(CInt(code))
        } catch {
            return .failure(Finding(text: "an attempt could not be started: \(error)"))
        }
    }

    /// Starts the runner; if the machine has no process or memory for it at the moment, tries again.
    ///
    /// A layer that is left out for a passing shortage would be missing until the host ends.
    private static func started(
        _ arguments: [String], _ runnerPath: String
    ) throws(SystemCallError) -> ProcessHandle {
        try retrying { () throws(SystemCallError) in
            let (_, theirs) = try DescriptorSocket.pair()
            return try ProcessSpawn.start(
                runnerPath, arguments: arguments, environment: ProcessSpawn.ownEnvironment, passing: theirs
            ).handle
        }
    }

    /// Makes an attempt up to ten times while it fails for a shortage, or because another process still
    /// writes to the program.
    ///
    /// - Parameters:
    ///   - pause: Called before each attempt but the first; waits for 100 ms unless a test replaces it.
    ///   - attempt: What may fail.
    /// - Returns: What the attempt returned.
    /// - Throws: The error of the last attempt.
    static func retrying<Result>(
        pause: () -> Void = { BlockingThread.pause(milliseconds: 100) },
        _ attempt: () throws(SystemCallError) -> Result
    ) throws(SystemCallError) -> Result {
        for _ in 1..<10 {
            do throws(SystemCallError) {
                return try attempt()
            } catch {
                guard error.isShortage || error.isBusyProgram else { throw error }
                pause()
            }
        }
        return try attempt()
    }

    private static func probeNamespaces(_ runnerPath: String) -> IsolationReport.Layer {
        let name = "pid namespace"
        guard SmallFile.exists("/proc/self/ns/pid_for_children") else {
            return .init(name: name, isAvailable: false, finding: "the kernel has no PID namespaces")
        }
        if let failure = failure(of: .pidNamespace, runnerPath) {
            let limit = try? SmallFile.read("/proc/sys/user/max_user_namespaces")
            let isOff = !hasAdministratorCapability() && limit == "0\n"
            return .init(
                name: name, isAvailable: false,
                finding: isOff
                    ? "user namespaces are switched off (/proc/sys/user/max_user_namespaces is 0)" : failure)
        }
        if hasAdministratorCapability() {
            return .init(name: name, isAvailable: true, finding: "by CAP_SYS_ADMIN")
        }
        return .init(name: name, isAvailable: true, finding: "inside a user namespace")
    }

    private static func probeSeccomp(_ runnerPath: String) -> IsolationReport.Layer {
        let status = (try? SmallFile.read("/proc/self/status")) ?? ""
        let isThere = status.contains("\nSeccomp:")
        let failure =
            isThere ? failure(of: .noFork, runnerPath) : "the kernel has no seccomp filters"
        return .init(
            name: "seccomp", isAvailable: failure == nil, finding: failure ?? "filters are available")
    }

    /// Whether this process has CAP_SYS_ADMIN, which is capability 21 in linux/capability.h.
    private static func hasAdministratorCapability() -> Bool {
        guard let status = try? SmallFile.read("/proc/self/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let mask = UInt64(line.dropFirst(7).drop { $0 == "\t" || $0 == " " }, radix: 16)
        else { return false }
        return mask & (1 << 21) != 0
    }

    /// A 64-bit FNV-1a hash in hexadecimal: short and stable, but not cryptographic.
    static func hash(of text: String) -> String {
        let number = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension IsolationReport {
    /// The same report, but with a layer that works on this machine and not for every bundle.
    ///
    /// - Parameters:
    ///   - layer: The layer.
    ///   - finding: What was found; with `nil`, the report stays as it is.
    /// - Returns: The report, in which the layer is not available.
    public func doubting(_ layer: SandboxLayer, because finding: String?) -> IsolationReport {
        let name = "sandbox: \(layer.title)"
        guard let finding, let index = layers.firstIndex(where: { $0.name == name }) else { return self }
        var report = self
        report.layers[index].isAvailable = false
        report.layers[index].finding = finding
        return report
    }
}

extension SandboxLayer {
    /// The name in `bgtask doctor`.
    fileprivate var title: String {
        switch self {
        case .namespaces: "namespaces"
        case .networkNamespace: "network namespace"
        case .user: "user per bundle"
        case .capabilities: "capabilities"
        case .landlock: "Landlock files"
        case .landlockPorts: "Landlock ports"
        case .landlockScopes: "Landlock scopes"
        case .seccomp: "seccomp filter"
        }
    }

    /// What a task could do on a machine without this layer.
    fileprivate var lossWithoutIt: String {
        switch self {
        case .namespaces:
            "tasks can change the attributes of files that they may read and the host's user owns, and get no "
                + "shared memory of System V"
        case .networkNamespace: "tasks can read the machine's list of connections in /proc"
        case .user: "tasks run as the user of the host"
        case .capabilities: "tasks of a root host keep its privileges"
        case .landlock: "tasks can use all files of the host's user; Landlock requires Linux 5.13"
        case .landlockPorts:
            "'network: {connect: ...}' can't limit the ports of a task; this requires Linux 6.7"
        case .landlockScopes:
            "tasks with 'subprocesses: true' can send signals to processes of the host's user; this requires "
                + "Linux 6.12"
        case .seccomp: "tasks can make every system call"
        }
    }
}
