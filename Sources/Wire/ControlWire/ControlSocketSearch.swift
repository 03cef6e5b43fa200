/// Where a host serves its control socket, and where clients look for it.
public enum ControlSocketSearch {
    /// The environment variable that names the socket.
    public static let variable = "BGTASK_SOCKET"
    /// The path of the system-wide host's socket.
    public static let systemPath = "/run/bgtask/control.sock"

    /// The paths to try, in order; never empty.
    ///
    /// - Parameters:
    ///   - option: The value of `--socket`; `nil` if it was not given. If it was given, it is the only path.
    ///   - environment: The environment. `BGTASK_SOCKET` is the only path if it is set. Otherwise, the paths
    ///     are the socket in the user's runtime directory or, without `XDG_RUNTIME_DIR`, in the user's state
    ///     directory, then that of the system: a host uses the same directories.
    /// - Returns: The paths. A path from the option or from `BGTASK_SOCKET` is returned unchanged, so it may
    ///   be relative.
    public static func candidates(option: String?, environment: [String: String]) -> [String] {
        if let option { return [option] }
        if let named = environment[variable], !named.isEmpty { return [named] }
        var paths: [String] = []
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            paths.append(runtime + "/bgtask/control.sock")
        } else if let state = stateDirectory(environment) {
            paths.append(state + "/bgtask/control.sock")
        }
        return paths + [systemPath]
    }

    /// The directory for the state of the user's programs; `nil` if the environment names none.
    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state"
    }
}
