import LinuxSystem
import TaskModel

extension LaunchOrder {
    /// Whether the task may start processes.
    var mayStartProcesses: Bool { handler.manifest.sandbox.subprocesses }

    /// The host's copies of libraries that the `call:` programs of the bundle name, sorted.
    ///
    /// The system's libraries have no path there.
    var callLibraries: [String] {
        guard libraryPath == nil, !isCommand else { return [] }
        let programs = handler.manifest.tasks.compactMap(\.call)
        let names = programs.flatMap { [$0.library] + $0.invocations.compactMap(\.library) }
        return Set(names.filter { $0.hasPrefix("/") }).sorted()
    }

    /// The files that the host put there for the template: its executable, and all files beside the copies of
    /// libraries.
    ///
    /// The host may replace them while a task has them mapped.
    var copies: Set<UnlinkedFiles.Identity> {
        let libraries = [libraryPath].compactMap(\.self) + callLibraries
        let files = [place.executable].compactMap(\.self) + libraries.flatMap(Self.filesBeside)
        return Set(files.compactMap { UnlinkedFiles.Identity(of: $0) })
    }

    /// All files in the directory of a copy, whose name is a SHA-256 of 64 digits; of another library, the
    /// file alone.
    private static func filesBeside(_ library: String) -> [String] {
        let parts = library.split(separator: "/")
        guard parts.count > 1, parts[parts.count - 2].utf8.count == 64,
            let end = library.lastIndex(of: "/"),
            let names = try? DirectoryTree.names(in: String(library[..<end]))
        else { return [library] }
        return names.map { "\(library[...end])\($0)" }
    }

    /// The environment of the launch's template; for a plugin or a command, `HOME` is the bundle's
    /// data directory.
    ///
    /// The template gets this environment when it is executed, because libraries read the variables while
    /// they are loaded. For example, CoreFoundation then copies `HOME` and `CFFIXED_USER_HOME`, and ignores
    /// later changes. The four `XDG_` variables are removed, so that libraries look for these directories
    /// below `HOME`. A `call:` keeps the home directory of the host's user, because `~` in its manifest means
    /// that directory.
    var templateEnvironment: [String] {
        let granted = handler.manifest.sandbox.environment.compactMap { name in
            ProcessFacts.environment(name).map { "\(name)=\($0)" }
        }
        let environment = environment + granted
        guard libraryPath != nil || isCommand else { return environment }
        let homes = [
            "HOME", "CFFIXED_USER_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
            "XDG_STATE_HOME",
        ]
        let others = environment.filter { line in !homes.contains { line.hasPrefix($0 + "=") } }
        return others + homes.prefix(2).map { "\($0)=\(place.dataDirectory)" }
    }
}
