/// The directories of a launch, which exist, and the program that it runs.
public struct LaunchPlace: Equatable, Sendable {
    /// The path of the bundle's data directory, which is the task's working directory.
    public var dataDirectory: String
    /// The path of the launch's temporary directory, which the host removes after the launch.
    public var temporaryDirectory: String
    /// The path of the runner's hard link or copy in the bundle's app directory, from which the process is
    /// executed; `nil` selects the installed runner.
    public var executable: String?
    /// What runs instead of a handler; `nil` if the handler of a library runs.
    public var program: LaunchProgram?
    /// The path of the directory with the temporary directories of all launches of the bundle, to which a
    /// task may write; `nil` permits only ``temporaryDirectory``.
    ///
    /// A process holds the plugin for all launches, and is confined before the first of them.
    public var temporaryParent: String?
    /// The number of the bundle's own user and group, as which the launch runs; `nil` selects the host's
    /// user.
    public var user: UInt32?
    /// The files of the manifest's grants, and whether a payload chose any of them.
    public var grants = FileGrants()

    public init(
        dataDirectory: String, temporaryDirectory: String, executable: String? = nil,
        program: LaunchProgram? = nil
    ) {
        self.dataDirectory = dataDirectory
        self.temporaryDirectory = temporaryDirectory
        self.executable = executable
        self.program = program
    }
}

/// The files and directories that a launch may use besides its own directories.
public struct FileGrants: Hashable, Sendable {
    /// The real paths that tasks may read.
    public var read: [String] = []
    /// The real paths of directories and files to which tasks may write.
    public var write: [String] = []
    /// Whether a value of the payload is part of a path, so that the next launch may have other grants.
    public var dependOnPayload = false

    /// Grants nothing.
    public init() {}
}
