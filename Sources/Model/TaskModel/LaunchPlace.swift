/// The directories of a launch, which exist, and the program that it runs.
public struct LaunchPlace: Equatable, Sendable {
    /// The path of the bundle's data directory, which is the task's working directory.
    public var dataDirectory: String
    /// The path of the launch's temporary directory, which the host removes after the launch.
    public var temporaryDirectory: String
    /// The path of the runner's hard link or copy in the bundle's app directory, from which the process is
    /// executed; `nil` selects the installed runner.
    public var executable: String?
    /// The encoded `call:`; `nil` if the handler of a library runs.
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
