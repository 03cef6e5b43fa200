import TaskModel

extension LaunchOrder {
    /// The environment of the template; for a library, the home directory is the bundle's data directory.
    ///
    /// The template gets this environment when it is executed, because libraries read it while they are
    /// loaded. For example, CoreFoundation copies these variables then, and ignores later changes. A `call:`
    /// keeps the home directory of the host's user.
    var templateEnvironment: [String] {
        guard libraryPath != nil else { return environment }
        let homes = [
            "HOME", "CFFIXED_USER_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
            "XDG_STATE_HOME",
        ]
        let others = environment.filter { line in !homes.contains { line.hasPrefix($0 + "=") } }
        return others + homes.prefix(2).map { "\($0)=\(dataDirectory)" }
    }
}
