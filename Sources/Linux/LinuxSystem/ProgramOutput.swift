import CLinuxShims
import Glibc
import TaskModel

/// What a program printed in one run, with bounds for its time and its output.
///
/// The program runs in a session of its own, in the working directory `/`, without standard input. At the
/// end, all processes that remain in its group are killed.
public struct ProgramOutput: Equatable, Sendable {
    /// How a run ended.
    public enum End: Equatable, Sendable {
        /// The program exited with this status.
        case exited(Int32)
        /// A signal ended the program.
        case signalled(Int32)
        /// The program was killed, because it took too long or printed too much.
        case outOfBounds
    }

    /// How the run ended.
    public var end: End
    /// The bytes of the standard output.
    public var output: [UInt8]
    /// The bytes of the standard error, at most 64 KiB of them.
    public var errors: [UInt8]

    /// Runs a program, and waits for its end, which blocks the calling thread.
    ///
    /// - Parameters:
    ///   - arguments: The absolute path of the program, then its arguments. No shell reads them.
    ///   - environment: The complete environment, as `NAME=value`.
    ///   - timeout: The longest time of the run, on CLOCK_MONOTONIC.
    ///   - most: The greatest number of bytes of the standard output.
    /// - Returns: What it printed, and how it ended.
    /// - Throws: The system call that failed, for example because the file can't be executed.
    public static func run(
        _ arguments: [String], environment: [String], timeout: Duration, atMost most: Int
    ) throws(SystemCallError) -> ProgramOutput {
        let path = arguments.first ?? ""
        let printing = try pipe(path)
        let output = OwnedDescriptor(taking: printing[0])
        let printed = OwnedDescriptor(taking: printing[1])
        let complaining = try pipe(path)
        let errors = OwnedDescriptor(taking: complaining[0])
        let pid = try spawn(
            path, arguments, environment, printed, OwnedDescriptor(taking: complaining[1]))
        var reading = Reading(output: output.rawValue, errors: errors.rawValue, most: most)
        let end = SystemClocks().now().monotonic + timeout
        let isWhole = reading.readAll(until: end) && hasEnded(pid, by: end)
        // The number of the group is that of the program, which no other process has before it is reaped.
        _ = kill(-pid, SIGKILL)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        let how: End =
            !isWhole ? .outOfBounds : signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        return ProgramOutput(end: how, output: reading.printed, errors: reading.complained)
    }

    /// Waits until the program, which has closed its output, has ended; returns false if it does not in time.
    private static func hasEnded(_ pid: pid_t, by end: Duration) -> Bool {
        let handle = lx_pidfd_open(pid, 0)
        guard handle >= 0 else { return false }
        defer { _ = close(handle) }
        while true {
            var entry = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            let left = (end - SystemClocks().now().monotonic).wholeMilliseconds
            if poll(&entry, 1, CInt(clamping: max(0, left + 1))) > 0 { return true }
            if left <= 0 { return false }
        }
    }

    /// The reading and the writing end of a new pipe.
    private static func pipe(_ path: String) throws(SystemCallError) -> [CInt] {
        var pair: [CInt] = [-1, -1]
        try retryingOnInterrupt("pipe2", path) { lx_pipe(&pair) }
        return pair
    }

    /// Starts the program; afterwards, only the program has the writing ends of the pipes.
    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String],
        _ output: consuming OwnedDescriptor, _ errors: consuming OwnedDescriptor
    ) throws(SystemCallError) -> pid_t {
        var argumentPointers = arguments.map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer {
            for pointer in argumentPointers { free(pointer) }
            for pointer in environmentPointers { free(pointer) }
        }
        let (first, second) = (output.rawValue, errors.rawValue)
        return try retryingOnInterrupt("posix_spawn", path) {
            lx_spawn_printing(path, &argumentPointers, &environmentPointers, first, second)
        }
    }
}

/// Reads two pipes to their ends.
private struct Reading {
    let output: CInt
    let errors: CInt
    let most: Int
    /// The greatest number of bytes of the standard error that are kept.
    private static let mostErrors = 64 << 10
    var printed: [UInt8] = []
    var complained: [UInt8] = []

    /// Returns whether both ended in time, and within the bound.
    mutating func readAll(until end: Duration) -> Bool {
        var open = [output, errors]
        while open != [-1, -1] {
            var entries = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = (end - SystemClocks().now().monotonic).wholeMilliseconds
            if left < 0 { return false }
            _ = poll(&entries, 2, CInt(clamping: left + 1))
            for (index, entry) in entries.enumerated() where entry.revents != 0 {
                if !take(open[index]) { open[index] = -1 }
            }
            if printed.count > most { return false }
        }
        return true
    }

    /// Reads what is there; returns false at the end of the pipe.
    private mutating func take(_ descriptor: CInt) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        if descriptor == output {
            printed += buffer.prefix(count)
        } else {
            complained += buffer.prefix(min(count, max(0, Self.mostErrors - complained.count)))
        }
        return count > 0
    }
}
