import TaskModel

extension LaunchOrder {
    /// Whether the task may start processes.
    var mayStartProcesses: Bool { handler.manifest.sandbox.subprocesses }

    /// Whether the task may open sockets.
    var mayOpenSockets: Bool { handler.manifest.sandbox.network ?? false }

    /// The environment of the launch's template; for a plugin, `HOME` is the bundle's data directory.
    ///
    /// The template gets this environment when it is executed, because libraries read the variables while
    /// they are loaded. For example, CoreFoundation then copies `HOME` and `CFFIXED_USER_HOME`, and ignores
    /// later changes. The four `XDG_` variables are removed, so that libraries look for these directories
    /// below `HOME`. A `call:` keeps the home directory of the host's user, because `~` in its manifest means
    /// that directory.
    var templateEnvironment: [String] {
        guard libraryPath != nil else { return environment }
        let homes = [
            "HOME", "CFFIXED_USER_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
            "XDG_STATE_HOME",
        ]
        let others = environment.filter { line in !homes.contains { line.hasPrefix($0 + "=") } }
        return others + homes.prefix(2).map { "\($0)=\(place.dataDirectory)" }
    }
}
