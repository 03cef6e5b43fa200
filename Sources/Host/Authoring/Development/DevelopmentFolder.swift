import LinuxSystem

/// The directories of a private host: what is installed, its state, its socket.
public struct DevelopmentFolder: Sendable {
    /// The largest library that is installed: 1 GiB.
    private static let largestLibrary = 1 << 30

    /// The temporary directory, which goes when the host has ended.
    public let path: String
    /// Where the host keeps its state; the user's, or inside of ``path``.
    public let state: String
    /// The host's socket.
    public var socket: String { path + "/control.sock" }
    /// What the host itself prints.
    public var log: String { path + "/host.log" }

    /// Makes the directories.
    ///
    /// - Parameter state: The host's state; `nil` is a temporary one.
    /// - Throws: ``AuthoringError`` if they can't be made.
    public init(state: String?) throws(AuthoringError) {
        let base = ProcessFacts.environment("TMPDIR") ?? "/tmp"
        // A socket's path has room for 107 bytes.
        let parent = base.utf8.count > 60 ? "/tmp" : base
        do {
            path = try DirectoryTree.makeUnique(prefix: parent + "/bgtask-dev-")
            if let state {
                try DirectoryTree.make(state, mode: 0o700)
                self.state = try DirectoryTree.realPath(of: state)
            } else {
                self.state = path + "/state"
            }
        } catch {
            throw AuthoringError(parent, "\(error)", "Set TMPDIR to a directory that you may write")
        }
    }

    /// The shell's words that remove what is temporary; the host's copies of libraries are read-only.
    var removal: String {
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "chmod -R u+w \(quoted) 2>/dev/null; rm -rf \(quoted)"
    }

    /// Removes what is temporary; for where no host was started.
    public func remove() { try? DirectoryTree.remove(path) }

    /// Puts libraries and manifests where the host looks, in place of those before.
    ///
    /// - Throws: ``AuthoringError`` with the file that could not be copied.
    public func install(libraries: [String], manifests: [String]) throws(AuthoringError) {
        for (name, files) in [("plugins", libraries), ("manifests", manifests)] {
            let directory = "\(path)/\(name)"
            do {
                try DirectoryTree.remove(directory)
                try DirectoryTree.make(directory, mode: 0o755)
                for file in files {
                    let bytes = try FileContents.read(file, limit: Self.largestLibrary)
                    let target = file.split(separator: "/").last.map(String.init) ?? "file"
                    try FileContents.create("\(directory)/\(target)", bytes, mode: 0o755)
                }
            } catch {
                throw AuthoringError(
                    directory, "\(error)", "Free some space, and give each manifest a name of its own")
            }
        }
    }

    /// Starts the host on what is installed; it ends with the leash.
    ///
    /// - Returns: The host, which may not answer yet.
    /// - Throws: ``AuthoringError`` if there is no bgtaskd next to the running program.
    public func startHost() throws(AuthoringError) -> LeashedProgram {
        let program = try Installation().program("bgtaskd")
        try? DirectoryTree.make(path + "/etc", mode: 0o755)
        // Who develops reads the log alone: what apps call private is shown, unless the variable is set
        // otherwise.
        let showsPrivate = ProcessFacts.environment("BGTASK_LOG_PRIVATE") ?? "1"
        return try LeashedProgram(
            [
                "env", "BGTASK_LOG_PRIVATE=\(showsPrivate)", program, "--plugins", path + "/plugins",
                "--manifests", path + "/manifests", "--state", state,
                "--socket", socket, "--conditions", "simulated", "--config-root", path + "/etc",
            ], in: "/", output: log)
    }

    /// Starts what removes the temporary directories when this process has ended, however it ends.
    ///
    /// - Throws: ``AuthoringError`` if it can't be started.
    public func startRemoval() throws(AuthoringError) -> LeashedProgram {
        try LeashedProgram(["sleep", "infinity"], in: "/", output: "/dev/null", after: removalAfterHost)
    }

    /// The host may still be writing when the leash breaks: its lock is waited for, at most 10 s.
    private var removalAfterHost: String {
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "n=0; while [ -S \(quoted)/control.sock ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done; "
            + removal
    }

    /// What the host printed last, for when it does not start.
    public func logTail(lines: Int = 8) -> String {
        let text = String(decoding: (try? FileContents.read(log)) ?? [], as: UTF8.self)
        return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
    }
}
