import CLinuxShims
import Glibc
import TaskModel

/// A thread that runs a program repeatedly and reports the output of each run.
///
/// Each run has its own session and process group, the working directory `/`, and /dev/null as standard input
/// and standard error. When the run ends or takes too long, all processes that remain in its group are
/// killed.
public final class RepeatedCommand: Sendable {
    /// The result of a run.
    public enum Result: Equatable, Sendable {
        /// The program exited.
        ///
        /// `firstLine` is the first line of its standard output, at most 4 KiB, without blanks at both ends.
        case exited(status: Int32, firstLine: String)
        /// A signal ended the program.
        case signalled(Int32)
        /// The program was killed, because it took too long or could not be watched.
        case timedOut
        /// The program could not be started.
        case notStarted(SystemCallError)
    }

    /// The complete environment of every run.
    public static let environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    private static let longestLine = 4096
    /// The time between two attempts to start a program that is busy.
    private static let busyInterval = Duration.milliseconds(10)

    private let stop: OwnedDescriptor

    /// Starts the thread; the first run begins immediately.
    ///
    /// - Parameters:
    ///   - arguments: The absolute path of the program, then its arguments.
    ///   - interval: The time from the start of one run to the start of the next, on CLOCK_MONOTONIC. If a
    ///     run takes longer, the next one follows immediately.
    ///   - timeout: The longest time of a run. For as long, a program is tried again that cannot be started
    ///     because its file is open for writing (`ETXTBSY`), as that of a program that is just being
    ///     replaced.
    ///   - onResult: Called on the thread after each run.
    /// - Throws: The `eventfd` that failed.
    public init(
        _ arguments: [String], interval: Duration, timeout: Duration,
        onResult: @escaping @Sendable (Result) -> Void
    ) throws(SystemCallError) {
        stop = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "command") { lx_eventfd() })
        BlockingThread.start(named: "condition") {
            // The closure retains this object, with its descriptor, until it is cancelled.
            let stop = self.stop.rawValue
            var start = SystemClocks().now().monotonic
            while let result = Self.run(arguments, timeout: timeout, stop: stop) {
                onResult(result)
                start = max(start + interval, SystemClocks().now().monotonic)
                if Self.waits(until: start, stop: stop) { return }
            }
        }
    }

    /// Ends the thread and the current run, without waiting for a running call of `onResult`.
    public func cancel() { _ = lx_eventfd_signal(stop.rawValue) }

    /// Waits until a time; returns true if the thread must stop.
    private static func waits(until time: Duration, stop: CInt) -> Bool {
        while true {
            var entry = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
            let left = time - SystemClocks().now().monotonic
            if poll(&entry, 1, CInt(clamping: max(0, left.wholeMilliseconds + 1))) > 0 { return true }
            if left <= .zero { return false }
        }
    }

    /// Runs the program once; `nil` if the thread must stop.
    private static func run(_ arguments: [String], timeout: Duration, stop: CInt) -> Result? {
        let path = arguments.first ?? ""
        let end = SystemClocks().now().monotonic + timeout
        while true {
            let result = runOnce(path, arguments, timeout: timeout, stop: stop)
            guard case .notStarted(let error) = result, error.isBusyProgram else { return result }
            let now = SystemClocks().now().monotonic
            guard now < end else { return result }
            if waits(until: now + busyInterval, stop: stop) { return nil }
        }
    }

    /// Starts the program and waits for its end; `nil` if the thread must stop.
    private static func runOnce(
        _ path: String, _ arguments: [String], timeout: Duration, stop: CInt
    ) -> Result? {
        do {
            var pair: [CInt] = [-1, -1]
            try retryingOnInterrupt("pipe2", path) { lx_pipe(&pair) }
            let output = OwnedDescriptor(taking: pair[0])
            let pid = try spawn(path, arguments, printingTo: OwnedDescriptor(taking: pair[1]))
            return finish(pid, output.rawValue, timeout: timeout, stop: stop)
        } catch {
            return .notStarted(error)
        }
    }

    /// Starts the program; afterwards, only the program has the writing end of the pipe.
    private static func spawn(
        _ path: String, _ arguments: [String], printingTo input: consuming OwnedDescriptor
    ) throws(SystemCallError) -> pid_t {
        var argumentPointers = arguments.map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer {
            for pointer in argumentPointers { free(pointer) }
            for pointer in environmentPointers { free(pointer) }
        }
        let number = input.rawValue
        return try retryingOnInterrupt("posix_spawn", path) {
            lx_spawn_printing(path, &argumentPointers, &environmentPointers, number, -1)
        }
    }

    /// Reads the output until the program has ended, then kills what remains of its group.
    private static func finish(_ pid: pid_t, _ output: CInt, timeout: Duration, stop: CInt) -> Result? {
        let handle = lx_pidfd_open(pid, 0)
        defer { if handle >= 0 { _ = close(handle) } }
        let end = SystemClocks().now().monotonic + timeout
        var line: [UInt8] = []
        var isOpen = true
        var isStopped = false
        var isLate = handle < 0
        while !isLate && !isStopped {
            var entries = [
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
                pollfd(fd: handle, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = (end - SystemClocks().now().monotonic).wholeMilliseconds
            let count = poll(&entries, 3, CInt(clamping: max(0, left + 1)))
            isStopped = entries[0].revents != 0
            if entries[2].revents != 0 { isOpen = take(output, into: &line) }
            if entries[1].revents != 0 { break }
            isLate = count == 0 && left <= 0
        }
        if !isLate && !isStopped { while isOpen, take(output, into: &line) {} }
        // The group's number is the program's own number, which no other process can get before the program
        // is reaped.
        _ = kill(-pid, SIGKILL)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        if isStopped { return nil }
        if isLate { return .timedOut }
        let signal = status & 0x7F
        return signal == 0
            ? .exited(status: (status >> 8) & 0xFF, firstLine: FirstLine.of(line)) : .signalled(signal)
    }

    /// Reads the available output; returns false at its end, or if there is none.
    ///
    /// Bytes beyond ``longestLine`` are ignored.
    private static func take(_ output: CInt, into line: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &buffer, buffer.count)
        if count > 0 { line += buffer.prefix(min(count, max(0, longestLine - line.count))) }
        return count > 0
    }
}
