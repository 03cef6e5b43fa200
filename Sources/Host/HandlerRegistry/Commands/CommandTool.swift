import LinuxSystem
public import TaskModel

/// The program `bgtask-task`, by which scripts talk to the host.
///
/// An installed one is among the programs of the system, which every command may use. Any other one, such as
/// that of a build, needs a grant and a place in the search path.
public struct CommandTool: Sendable {
    private let path: String

    /// Fails if the program does not exist, or is among the programs of the system.
    ///
    /// - Parameter path: The path of the program.
    public init?(path: String) {
        guard let real = try? DirectoryTree.realPath(of: path), !CommandResolver.isUsualProgram(real) else {
            return nil
        }
        self.path = real
    }

    /// Lets a command execute the program by its name.
    public func offer(to start: inout CommandStart, _ grants: inout ResolvedGrants) {
        grants.files.read.append(path)
        guard !start.environment.contains(where: { $0.hasPrefix("PATH=") }) else { return }
        let directories =
            CommandCheck.searchPath + [String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])]
        start.environment.append("PATH=" + directories.joined(separator: ":"))
        start.environment.sort()
    }
}
