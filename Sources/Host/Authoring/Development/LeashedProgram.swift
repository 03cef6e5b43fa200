import LinuxSystem

/// A program that ends with this process, even if this process crashes or is killed.
///
/// The program runs in its own session, below a shell that reads from a socket: the leash. When this process
/// closes the other end or ends, the shell sends SIGTERM to the program. After the program has ended, the
/// shell can run one more command.
public final class LeashedProgram: Sendable {
    /// The shell script that runs the program.
    ///
    /// Its arguments are the directory, the command for the end, the output file (may be empty), and then the
    /// program with its arguments. At the end, the script first kills the reader of the leash. Otherwise, the
    /// reader could later send SIGTERM to an unrelated process with the same number.
    private static let script = #"""
        directory=$1 after=$2 output=$3; shift 3
        cd "$directory" || exit 126
        if [ "$output" = - ]; then exec 1>&2; elif [ -n "$output" ]; then exec >>"$output" 2>&1; fi
        "$@" 3<&- & child=$!
        { read -r _ <&3; kill -TERM $child 2>/dev/null; } & reader=$!
        exec 3<&-
        wait $child; status=$?
        kill $reader 2>/dev/null
        if [ -n "$after" ]; then eval "$after"; fi
        exit $status
        """#
    /// Variables that `make` sets for its child processes; the program must not inherit them.
    private static let dropped = ["MAKEFLAGS=", "MAKELEVEL=", "MFLAGS="]

    private let handle: ProcessHandle
    private let leash: LeashEnd

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program (a path, or a name to find in `PATH`) and its arguments.
    ///   - directory: The working directory.
    ///   - output: A file to which the program's output is appended; `-` means this process's standard error,
    ///     and `nil` its standard output and standard error.
    ///   - after: A shell command that runs after the program has ended.
    /// - Throws: ``AuthoringError`` if the shell can't be started.
    public init(_ arguments: [String], in directory: String, output: String? = nil, after: String = "")
        throws(AuthoringError)
    {
        do {
            let (ours, theirs) = try DescriptorSocket.pair()
            let environment = ProcessSpawn.ownEnvironment.filter { variable in
                !Self.dropped.contains { variable.hasPrefix($0) }
            }
            handle = try ProcessSpawn.start(
                "/bin/sh", arguments: ["-c", Self.script, "sh", directory, after, output ?? ""] + arguments,
                environment: environment, passing: theirs
            ).handle
            leash = LeashEnd(ours)
        } catch {
            throw AuthoringError(arguments.first ?? "sh", "\(error)", "bgtask dev needs /bin/sh")
        }
    }

    /// Stops the program with SIGTERM; returns without waiting for its end.
    public func end() { leash.drop() }

    /// Waits until the program and the command after it have ended; call this once.
    ///
    /// - Returns: The program's exit status, or 128 plus the number of the signal that ended it.
    public func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            BlockingThread.start(named: "bgtask-program") {
                let status = (try? self.handle.reap()) ?? -1
                continuation.resume(returning: status & 0x7F == 0 ? status >> 8 : 128 + status & 0x7F)
            }
        }
    }
}
