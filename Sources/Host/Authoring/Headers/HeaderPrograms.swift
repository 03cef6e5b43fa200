import LinuxSystem

/// The programs that help to read headers: a C preprocessor, pkg-config and apt-file.
///
/// They run without a shell, with a bound for their time and output, and with only `PATH` and `LC_ALL` of an
/// environment: variables such as `CPATH` would change what they read.
struct HeaderPrograms {
    /// The longest time of a run: 20 s, for the thousands of lines that headers of graphical libraries
    /// include.
    private static let timeout = Duration.seconds(20)
    /// The greatest output of a run: 16 MiB, several times that of the largest header that was tried.
    private static let mostOutput = 16 << 20

    /// The directories that are searched for programs.
    let directories: [String]

    /// - Parameter path: The value of `PATH`. Relative directories are left out, because they could be those
    ///   of a manifest.
    init(path: String) {
        directories = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }

    /// The path of a program; `nil` if it is not installed.
    func path(of name: String) -> String? {
        directories.lazy.map { "\($0)/\(name)" }.first(where: ProcessFacts.isExecutable)
    }

    /// The path of the C preprocessor, with the option that makes it one; `nil` if there is none.
    var preprocessor: [String]? {
        for name in ["cc", "gcc", "clang"] {
            if let path = path(of: name) { return [path, "-E"] }
        }
        return path(of: "cpp").map { [$0] }
    }

    /// What a program prints; `nil` if it fails.
    func output(_ arguments: [String]) -> [UInt8]? {
        guard let run = try? run(arguments), run.end == .exited(0) else { return nil }
        return run.output
    }

    /// Runs a program.
    func run(_ arguments: [String]) throws(SystemCallError) -> ProgramOutput {
        try ProgramOutput.run(
            arguments, environment: ["PATH=\(directories.joined(separator: ":"))", "LC_ALL=C"],
            timeout: Self.timeout, atMost: Self.mostOutput)
    }
}
