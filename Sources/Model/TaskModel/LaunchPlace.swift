/// Where a launch runs and what it runs, once its directories are there.
public struct LaunchPlace: Equatable, Sendable {
    /// The bundle's own directory, which exists; the task's working directory.
    public var dataDirectory: String
    /// The launch's own directory, which exists; emptied after the launch.
    public var temporaryDirectory: String
    /// The runner's link or copy in the bundle's app directory that the process is executed from; `nil` is
    /// the runner itself.
    public var executable: String?
    /// The encoded `call:`; `nil` where a library's handler runs.
    public var program: [UInt8]?

    public init(
        dataDirectory: String, temporaryDirectory: String, executable: String? = nil,
        program: [UInt8]? = nil
    ) {
        self.dataDirectory = dataDirectory
        self.temporaryDirectory = temporaryDirectory
        self.executable = executable
        self.program = program
    }
}
