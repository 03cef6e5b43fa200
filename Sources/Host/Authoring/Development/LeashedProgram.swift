import LinuxSystem

/// A program that ends with this process, whether Ctrl-C, a crash or a kill ends the process.
///
/// It runs in its own session under a shell that reads from a socket. When this process no longer holds the
/// other end, the program's process group gets SIGTERM, and a command runs after the group has ended.
public final class LeashedProgram: Sendable {
    /// The shell's words.
    ///
    /// $1 is the directory, $2 what is run at the end, $3 the output file or nothing, then the
    /// program. The reader of the leash is killed first at the end, so that it can't end a stranger.
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
    /// Variables that `make` sets for its own programs; the leashed program must not inherit them.
    private static let dropped = ["MAKEFLAGS=", "MAKELEVEL=", "MFLAGS="]

    private let handle: ProcessHandle
    private let leash: LeashEnd

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, found in `PATH` or a path, and its arguments.
    ///   - directory: Where it runs.
    ///   - output: A file that what it prints is added to; `-` is our standard error, `nil` our own outputs.
    ///   - after: A command of the shell for when it has ended.
    /// - Throws: ``AuthoringError`` if there is no shell to start it.
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

    /// Stops it, as Ctrl-C would.
    public func end() { leash.drop() }

    /// Waits for its end; asked once.
    ///
    /// - Returns: Its exit status, 128 and more for a signal.
    public func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            BlockingThread.start(named: "bgtask-program") {
                let status = (try? self.handle.reap()) ?? -1
                continuation.resume(returning: status & 0x7F == 0 ? status >> 8 : 128 + status & 0x7F)
            }
        }
    }
}
