public import LinuxSystem

/// The paths that a host uses.
///
/// By default, a host of root uses directories under `/usr`, `/etc`, `/var` and `/run`, and a host of another
/// user uses XDG directories.
public struct HostPaths: Equatable, Sendable {
    /// The directory with the libraries of the plugins.
    public var plugins: String
    /// The directory with the manifests.
    public var manifests: String
    /// The directory with the store and the bundles' data.
    public var state: String
    /// The path of the control socket.
    public var socket: String
    /// The path of the runner program; empty means that the host uses ``installedRunner()``.
    public var runner = ""

    /// The directory with the definitions of custom conditions; empty means `conditions.d` beside the
    /// directory of the manifests.
    public var conditions = ""

    /// Creates paths; ``runner`` and ``conditions`` are empty.
    public init(plugins: String, manifests: String, state: String, socket: String) {
        self.plugins = plugins
        self.manifests = manifests
        self.state = state
        self.socket = socket
    }

    /// The default paths of a host that runs as root.
    public static let root = HostPaths(
        plugins: "/usr/lib/bgtask/plugins", manifests: "/etc/bgtask/manifests",
        state: "/var/lib/bgtask", socket: "/run/bgtask/control.sock")

    /// The directory of `bgtaskd.yaml` and `conf.d`, for a host of this process's user.
    public static var configurationDirectory: String {
        if ProcessFacts.isRoot { return "/etc/bgtask" }
        return (ProcessFacts.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/bgtask"
    }

    static var home: String { ProcessFacts.environment("HOME") ?? "." }

    /// The default paths for this process, from its user and its environment variables.
    public static var standard: HostPaths {
        if ProcessFacts.isRoot { return root }
        let data = ProcessFacts.environment("XDG_DATA_HOME") ?? home + "/.local/share"
        let state = ProcessFacts.environment("XDG_STATE_HOME") ?? home + "/.local/state"
        let runtime = ProcessFacts.environment("XDG_RUNTIME_DIR") ?? state
        return HostPaths(
            plugins: data + "/bgtask/plugins", manifests: configurationDirectory + "/manifests",
            state: state + "/bgtask", socket: runtime + "/bgtask/control.sock")
    }

    /// Finds the runner: beside this process's executable, or where `make install` puts it.
    ///
    /// If neither file is executable, the result is the path beside the executable.
    ///
    /// - Throws: The system call that failed; the function needs `/proc`.
    public static func installedRunner() throws(SystemCallError) -> String {
        let directory = try ProcessFacts.executableDirectory()
        let candidates = [directory + "/bgtask-runner", directory + "/../libexec/bgtask/bgtask-runner"]
        for candidate in candidates where ProcessFacts.isExecutable(candidate) {
            return try DirectoryTree.realPath(of: candidate)
        }
        return candidates[0]
    }

    /// The path of the program that makes transfers; it is beside the runner.
    public static func transferProgram(beside runner: String) -> String {
        program("bgtask-transfer", beside: runner)
    }

    /// The path of the program by which scripts talk to the host; it is beside the runner.
    public static func taskProgram(beside runner: String) -> String {
        program("bgtask-task", beside: runner)
    }

    private static func program(_ name: String, beside runner: String) -> String {
        (runner.lastIndex(of: "/").map { runner[...$0] } ?? "") + name
    }

    /// The programs of the host: the runner, that for transfers, and `bgtaskd`, which is beside this
    /// process's executable.
    public static func programs(runner: String) -> [String] {
        let directory = try? ProcessFacts.executableDirectory()
        let host = directory.map { [$0 + "/bgtaskd"] } ?? []
        return [runner, transferProgram(beside: runner), taskProgram(beside: runner)] + host
    }
}
