/// Where a host serves its control socket, and where clients look for it.
public enum ControlSocketSearch {
    /// The environment variable that names the socket.
    public static let variable = "BGTASK_SOCKET"
    /// The system-wide host's socket.
    public static let systemPath = "/run/bgtask/control.sock"

    /// The places to look, best first; never empty.
    ///
    /// - Parameters:
    ///   - option: What `--socket` says; `nil` if it was not given. If it was, nothing else counts.
    ///   - environment: `BGTASK_SOCKET` counts alone too; without it the user's runtime directory, then the
    ///     system's.
    /// - Returns: Absolute paths, as far as they were given as such.
    public static func candidates(option: String?, environment: [String: String]) -> [String] {
        if let option { return [option] }
        if let named = environment[variable], !named.isEmpty { return [named] }
        var paths: [String] = []
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            paths.append(runtime + "/bgtask/control.sock")
        }
        return paths + [systemPath]
    }
}
