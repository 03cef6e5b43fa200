import LinuxSystem

/// Where things are unless options say otherwise: root's under /usr, /etc, /var and /run, a user's in XDG directories.
struct HostPaths {
    var plugins: String
    var manifests: String
    var state: String
    var socket: String

    static var standard: HostPaths {
        if ProcessFacts.isRoot {
            return HostPaths(
                plugins: "/usr/lib/bgtask/plugins", manifests: "/etc/bgtask/manifests",
                state: "/var/lib/bgtask", socket: "/run/bgtask/control.sock")
        }
        let home = ProcessFacts.environment("HOME") ?? "."
        let data = ProcessFacts.environment("XDG_DATA_HOME") ?? home + "/.local/share"
        let config = ProcessFacts.environment("XDG_CONFIG_HOME") ?? home + "/.config"
        let state = ProcessFacts.environment("XDG_STATE_HOME") ?? home + "/.local/state"
        let runtime = ProcessFacts.environment("XDG_RUNTIME_DIR") ?? state
        return HostPaths(
            plugins: data + "/bgtask/plugins", manifests: config + "/bgtask/manifests",
            state: state + "/bgtask", socket: runtime + "/bgtask/control.sock")
    }

    /// The runner beside the host's own file, or where `make install` puts it.
    static func runner() throws -> String {
        let directory = try ProcessFacts.executableDirectory()
        let candidates = [directory + "/bgtask-runner", directory + "/../libexec/bgtask/bgtask-runner"]
        for candidate in candidates where ProcessFacts.isExecutable(candidate) {
            return try DirectoryTree.realPath(of: candidate)
        }
        return candidates[0]
    }
}
