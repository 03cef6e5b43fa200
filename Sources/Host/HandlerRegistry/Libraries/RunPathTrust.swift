import LinuxSystem
import StrictFiles

/// Decides whether a host that runs as root may let the dynamic loader look for what a library needs outside
/// of the plugins directory, which nothing copies (ld.so(8)).
///
/// The run paths of the libraries that are found there are not examined: root has installed these libraries.
enum RunPathTrust {
    /// Examines the run path of a library and the libraries that it needs by their paths.
    ///
    /// - Parameters:
    ///   - name: The file name of the library, for the message.
    ///   - runPath: The entries of its run path.
    ///   - needed: The libraries that it needs.
    /// - Returns: The problem; `nil` if only root can change what is loaded, or if the host is not root.
    /// - Throws: The system call's error if a path can't be followed.
    static func problem(
        of name: String, runPath: [String], needed: [String]
    ) throws(SystemCallError) -> FileTrust.Problem? {
        guard FileContents.isRoot else { return nil }
        let found = "what library '\(name)' loads by its run path"
        let own = ["$ORIGIN", "${ORIGIN}"]
        for entry in runPath where !own.contains(where: { entry == $0 || entry.hasPrefix($0 + "/") }) {
            guard entry.hasPrefix("/"), !entry.contains("$") else {
                return (
                    "untrusted: the run path of library '\(name)' has the entry '\(entry)', and where that leads "
                        + "depends on the task or the machine",
                    "Link the library again with absolute directories, or with those that begin with $ORIGIN"
                )
            }
        }
        var trust = FileTrust()
        let directories = RunPath.directories(of: runPath)
        for directory in directories {
            if let problem = try trust.problem(withNamesIn: directory, called: found) { return problem }
        }
        // Also links that lead nowhere yet.
        let names = directories.flatMap { directory in
            ((try? DirectoryTree.names(in: directory)) ?? []).filter(RunPath.isLibrary(_:))
                .map { "\(directory)/\($0)" }
        }
        for path in names + needed.filter({ $0.contains("/") }) {
            if let problem = try trust.problem(with: path, called: found) { return problem }
        }
        return nil
    }
}
