import TaskModel

extension LaunchOrder {
    /// The environment of its template: for a library, the bundle's own directory is the home.
    ///
    /// Set when the template is executed, because libraries read it while they are loaded: CoreFoundation
    /// copies these variables then, and looks for no later value. A `call:` keeps the home of the host's
    /// user.
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
