public import LinuxSystem

/// Where things are unless the configuration says otherwise: root's under /usr, /etc, /var and /run, a user's
/// in XDG directories.
public struct HostPaths: Equatable, Sendable {
    /// The handlers' libraries.
    public var plugins: String
    /// The manifests.
    public var manifests: String
    /// The store and the bundles' data.
    public var state: String
    /// The control socket.
    public var socket: String
    /// The runner program; empty if it is to be found beside bgtaskd.
    public var runner = ""

    /// The definitions of custom conditions; empty if they are in `conditions.d` beside the manifests.
    public var conditions = ""

    /// Names the places.
    public init(plugins: String, manifests: String, state: String, socket: String) {
        self.plugins = plugins
        self.manifests = manifests
        self.state = state
        self.socket = socket
    }

    /// Those of a host that runs as root.
    public static let root = HostPaths(
        plugins: "/usr/lib/bgtask/plugins", manifests: "/etc/bgtask/manifests",
        state: "/var/lib/bgtask", socket: "/run/bgtask/control.sock")

    /// Where the administrator's configuration of this process's host is.
    public static var configurationDirectory: String {
        if ProcessFacts.isRoot { return "/etc/bgtask" }
        return (ProcessFacts.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/bgtask"
    }

    static var home: String { ProcessFacts.environment("HOME") ?? "." }

    /// This process's: by its user and its environment.
    public static var standard: HostPaths {
        if ProcessFacts.isRoot { return root }
        let data = ProcessFacts.environment("XDG_DATA_HOME") ?? home + "/.local/share"
        let state = ProcessFacts.environment("XDG_STATE_HOME") ?? home + "/.local/state"
        let runtime = ProcessFacts.environment("XDG_RUNTIME_DIR") ?? state
        return HostPaths(
            plugins: data + "/bgtask/plugins", manifests: configurationDirectory + "/manifests",
            state: state + "/bgtask", socket: runtime + "/bgtask/control.sock")
    }

    /// The runner beside the host's own file, or where `make install` puts it.
    ///
    /// - Throws: The call that failed; without /proc there is no answer.
    public static func installedRunner() throws(SystemCallError) -> String {
        let directory = try ProcessFacts.executableDirectory()
        let candidates = [directory + "/bgtask-runner", directory + "/../libexec/bgtask/bgtask-runner"]
        for candidate in candidates where ProcessFacts.isExecutable(candidate) {
            return try DirectoryTree.realPath(of: candidate)
        }
        return candidates[0]
    }
}
