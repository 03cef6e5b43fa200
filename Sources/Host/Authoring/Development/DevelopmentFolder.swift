import LinuxSystem

/// The directories of the private host that `bgtask dev` starts: plugins, manifests, state and socket.
public struct DevelopmentFolder: Sendable {
    /// The greatest size of an installed file: 1 GiB; a larger one is refused.
    private static let largestLibrary = 1 << 30

    /// A temporary directory, which is removed after the host has ended.
    public let path: String
    /// The directory of the host's state: the one that the user gave, or a directory inside ``path``.
    public let state: String
    /// The path of the host's control socket.
    public var socket: String { path + "/control.sock" }
    /// The file that receives the standard output and standard error of the host.
    public var log: String { path + "/host.log" }

    /// Creates the temporary directory, and the state directory if one is given.
    ///
    /// - Parameter state: The directory of the host's state; `nil` uses one inside ``path``.
    /// - Throws: ``AuthoringError`` if a directory can't be created.
    public init(state: String?) throws(AuthoringError) {
        let base = ProcessFacts.environment("TMPDIR") ?? "/tmp"
        // The path of a Unix socket has at most 107 bytes.
        let parent = base.utf8.count > 60 ? "/tmp" : base
        do {
            path = try DirectoryTree.makeUnique(prefix: parent + "/bgtask-dev-")
        } catch {
            throw AuthoringError(
                parent, "\(error)",
                "Set TMPDIR to a directory that you may write to; its path may have at most 60 bytes")
        }
        guard let state else {
            self.state = path + "/state"
            return
        }
        do {
            try DirectoryTree.make(state, mode: 0o700)
            self.state = try DirectoryTree.realPath(of: state)
        } catch {
            throw AuthoringError(
                state, "\(error)", "Give the path of a directory that you may create or write to: --state DIR"
            )
        }
    }

    /// A shell command that removes ``path``; it first makes the host's read-only copies of libraries
    /// writable.
    var removal: String {
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "chmod -R u+w \(quoted) 2>/dev/null; rm -rf \(quoted)"
    }

    /// Removes ``path``; only for use when no host was started.
    public func remove() { try? DirectoryTree.remove(path) }

    /// Replaces the installed libraries and manifests with copies of these files.
    ///
    /// - Throws: ``AuthoringError`` if a file can't be copied.
    public func install(libraries: [String], manifests: [String]) throws(AuthoringError) {
        for (name, files) in [("plugins", libraries), ("manifests", manifests)] {
            let directory = "\(path)/\(name)"
            do {
                try DirectoryTree.remove(directory)
                try DirectoryTree.make(directory, mode: 0o755)
                for file in files {
                    let bytes = try FileContents.read(file, atMost: Self.largestLibrary)
                    let target = file.split(separator: "/").last.map(String.init) ?? "file"
                    try FileContents.create("\(directory)/\(target)", bytes, mode: 0o755)
                }
            } catch {
                throw AuthoringError(
                    directory, "\(error)",
                    "Make sure that every file can be read, that no two have the same name, and that the disk has free space"
                )
            }
        }
    }

    /// Starts the host with the installed files; it ends with this process, like any ``LeashedProgram``.
    ///
    /// - Returns: The host, which may not accept connections yet.
    /// - Throws: ``AuthoringError`` if there is no bgtaskd beside the running program.
    public func startHost() throws(AuthoringError) -> LeashedProgram {
        let program = try Installation().program("bgtaskd")
        try? DirectoryTree.make(path + "/etc", mode: 0o755)
        // The developer is the only reader of this log, so values that apps mark as private are shown,
        // unless the environment variable says otherwise.
        let showsPrivate = ProcessFacts.environment("BGTASK_LOG_PRIVATE") ?? "1"
        return try LeashedProgram(
            [
                "env", "BGTASK_LOG_PRIVATE=\(showsPrivate)", program, "--plugins", path + "/plugins",
                "--manifests", path + "/manifests", "--state", state,
                "--socket", socket, "--conditions", "simulated", "--config-root", path + "/etc",
            ], in: "/", output: log)
    }

    /// Starts a program that does nothing, and removes the temporary directory after this process has ended.
    ///
    /// The removal happens even if this process crashes or is killed.
    ///
    /// - Throws: ``AuthoringError`` if the program can't be started.
    public func startRemoval() throws(AuthoringError) -> LeashedProgram {
        try LeashedProgram(["sleep", "infinity"], in: "/", output: "/dev/null", after: removalAfterHost)
    }

    /// A shell command that waits up to 10 s for the host to remove its socket, and then removes ``path``.
    ///
    /// Until the socket is removed, the host may still be writing files.
    private var removalAfterHost: String {
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "n=0; while [ -S \(quoted)/control.sock ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done; "
            + removal
    }

    /// The last lines of ``log``, to explain why the host did not start.
    public func logTail(lines: Int = 8) -> String {
        let text = String(decoding: (try? FileContents.read(log)) ?? [], as: UTF8.self)
        return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
    }
}
