import LinuxSystem
import RunnerWire
import TaskModel

/// Finds out which observed calls the sandbox refused, and which used a grant of the manifest.
///
/// The launcher knows what its own filter refused. For the calls with which the kernel continued, this type
/// compares the paths with the rules of Landlock. It follows links, so it may take time.
struct CallJudge: Sendable {
    /// The calls, in the order in which they were made.
    let calls: [ObservedCalls.Call]
    let further: Int
    let isComplete: Bool
    let rules: FileRules
    let network: NetworkGrant?

    /// The calls that belong in the record; `nil` if there is nothing to record.
    func judged() -> ObservedCalls? {
        var kept: [ObservedCalls.Call] = []
        for call in calls {
            if call.isRefused {
                kept.append(call)
                continue
            }
            var call = call
            switch verdict(on: call) {
            case .always: continue
            case .granted: call.isRefused = false
            case .refused: call.isRefused = true
            }
            kept.append(call)
        }
        guard !kept.isEmpty || further > 0 || isComplete else { return nil }
        return ObservedCalls(calls: kept, further: further, isComplete: isComplete)
    }

    private func verdict(on call: ObservedCalls.Call) -> FileRules.Verdict {
        if call.use == .connect {
            guard let port = call.port else { return .always }
            switch network {
            case nil: return .refused
            case .all: return .granted
            case .connect(let ports): return ports.contains(port) ? .granted : .refused
            }
        }
        guard let use = call.use, let path = call.subject else { return .always }
        // `mkdir -p` calls it for each directory of a path. The kernel answers EEXIST before it asks
        // Landlock.
        if ["mkdir", "mkdirat"].contains(call.name), rules.isDirectoryOfOthers(path) { return .always }
        return rules.verdict(on: path, use)
    }
}

/// The files that a task may use, as the runner grants them.
struct FileRules: Sendable {
    /// Whether a task may use a file.
    enum Verdict: Equatable, Sendable {
        /// Every task may, or it would read a file that does not exist.
        case always
        /// The manifest permits it.
        case granted
        /// The sandbox refuses it.
        case refused
    }

    /// The data directory of the bundle, and the directory that contains the temporary directories of all its
    /// launches.
    ///
    /// So a use of another launch's temporary directory counts as ``Verdict/always``, although the kernel
    /// lets a launch change only its own.
    var own: [String]
    /// What the task's process needs to load its library.
    var libraries: [String]
    /// The paths that the manifest grants.
    var grants: FileGrants
    /// The device files that the manifest grants.
    var devices: [String]
    var mayUseNetwork: Bool
    var mayStartProcesses: Bool

    /// Decides about a path, which may be that of a file that was removed since.
    func verdict(on path: String, _ use: ObservedCalls.Use) -> Verdict {
        let plain = PathWalk.normalized(path)
        // The files there belong to the process that asks, so this process can't follow their links.
        if PathWalk.isInside(plain, "/proc") { return use == .read ? .always : .refused }
        if isInside(plain, own) { return .always }
        guard let walk = try? PathWalk(plain) else { return .refused }
        let real = walk.realPath
        if isInside(real, own) { return .always }
        if use == .read, isMissing(real) { return .always }
        return switch use {
        case .read: verdict(onReading: real)
        case .write: verdict(onWriting: real)
        case .execute: mayStartProcesses ? .granted : .refused
        case .connect: .always
        }
    }

    /// Whether a path is that of a directory that no write grant contains, so that the task did not make it.
    func isDirectoryOfOthers(_ path: String) -> Bool {
        let plain = PathWalk.normalized(path)
        guard let real = try? PathWalk(plain).realPath, !isInside(real, own + grants.write) else {
            return false
        }
        return ((try? PathWalk.Step.at(real)) ?? nil)?.kind == .directory
    }

    private func verdict(onReading path: String) -> Verdict {
        let everyone = libraries + Self.libraries + Self.usual + Self.devices
        if isInside(path, everyone) { return .always }
        if isInside(path, grants.read + grants.write + devices) { return .granted }
        if mayUseNetwork, isInside(path, Self.forNetwork) { return .always }
        return mayStartProcesses && isInside(path, Self.programs) ? .always : .refused
    }

    private func verdict(onWriting path: String) -> Verdict {
        if Self.devices.contains(path) { return .always }
        return isInside(path, grants.write + devices) ? .granted : .refused
    }

    private func isMissing(_ path: String) -> Bool {
        ((try? PathWalk.Step.at(path)) ?? nil) == nil
    }

    private func isInside(_ path: String, _ directories: [String]) -> Bool {
        directories.contains { PathWalk.isInside(path, $0) }
    }

    // MARK: What every task may use; equal to the lists in the runner's sandbox_files.c

    static let libraries = [
        "/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32",
        "/usr/share", "/usr/local/lib", "/usr/local/share",
    ]
    static let usual = [
        "/proc", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage", "/etc/ld.so.cache",
        "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/locale.alias",
        "/etc/os-release", "/dev/zero",
    ]
    static let forNetwork = [
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
        "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates",
        "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/crypto-policies",
    ]
    static let programs = [
        "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec",
    ]
    static let devices = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"]
}

/// Records the calls that the launcher reports.
extension LauncherCore {
    /// How many different calls the record of a launch has.
    private static let maximumObservedCalls = 512
    /// How many bytes the names and subjects of these calls have.
    ///
    /// Our choice: 512 paths of 128 bytes. A hostile plugin in a learning launch would use paths of 1 KiB.
    private static let maximumObservedBytes = 65_536

    func observed(_ message: ObservedMessage, _ launch: RunningLaunch) {
        let count = Int(clamping: message.count)
        let subject = message.subject.map(OutputLines.harmless(_:))
        let bytes = (message.call?.utf8.count ?? 0) + (subject?.utf8.count ?? 0)
        guard let name = message.call, launch.calls.count < Self.maximumObservedCalls,
            launch.callBytes + bytes <= Self.maximumObservedBytes
        else {
            launch.furtherCalls += count
            return
        }
        launch.callBytes += bytes
        launch.calls.append(
            ObservedCalls.Call(
                name: OutputLines.harmless(name), subject: subject, use: message.use,
                isRefused: message.isRefused, count: count))
    }

    /// What is needed to judge the calls of a launch; `nil` if there are none and nothing was observed.
    func observation(of launch: RunningLaunch) -> CallJudge? {
        let order = launch.order
        let isComplete = order.observation == .all && launch.pid != nil && reportsCalls
        guard !launch.calls.isEmpty || isComplete else { return nil }
        let declaration = order.handler.manifest.sandbox
        return CallJudge(
            calls: launch.calls.reversed(), further: launch.furtherCalls, isComplete: isComplete,
            rules: FileRules(
                own: [
                    order.place.dataDirectory,
                    order.place.temporaryParent ?? order.place.temporaryDirectory,
                ], libraries: runPaths.paths(for: order), grants: order.place.grants,
                devices: declaration.devices + (declaration.gpu == true ? ["/dev/dri"] : []),
                mayUseNetwork: declaration.network != nil, mayStartProcesses: declaration.subprocesses),
            network: declaration.network)
    }

    /// How many refusals the log of a launch shows; the record has more.
    private static let loggedRefusals = 5

    /// Logs what the sandbox refused to a launch that did not succeed.
    func tellRefusals(of ended: EndedLaunch) {
        guard ended.end.outcome != .succeeded, let refused = ended.end.calls?.refused else { return }
        for call in refused.prefix(Self.loggedRefusals) {
            tell(
                .log(ended.id, level: .warning, message: call.refusal, subsystem: nil, category: nil))
        }
        if refused.count > Self.loggedRefusals {
            tell(
                .log(
                    ended.id, level: .warning,
                    message:
                        "the sandbox refused \(refused.count - Self.loggedRefusals) more calls: "
                        + "bgtask show \(ended.id)", subsystem: nil, category: nil))
        }
    }
}
