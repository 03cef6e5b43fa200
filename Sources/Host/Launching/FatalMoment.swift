import LinuxSystem
import RunnerWire
import TaskModel

/// What the threads of a launch did at one moment, for the report of its end.
struct FatalMoment: Sendable {
    /// The greatest number of threads that are looked at (64), and that a report lists (32); our choice.
    static let maximumThreads = 64
    static let shownThreads = 32
    /// The greatest number of frames that a report lists of each thread, the one that crashed included; our
    /// choice.
    static let shownFrames = 24
    /// The greatest length of a frame's text, in characters, because C++ and Swift have very long names.
    private static let frameLength = 200

    /// Why the launch ends, as far as it is known at this moment.
    enum Cause: Equatable, Sendable {
        /// It got a fatal signal.
        case crash(CrashMessage)
        /// It has reached a limit, or the host is about to kill it.
        case host
    }

    /// When the threads were looked at, on CLOCK_MONOTONIC.
    let at: Duration
    let cause: Cause
    /// The memory map of the process, which is read while the process exists.
    private let map: CodeMap?
    private let threads: [ThreadSight]
    /// The number of the handler's process.
    private let process: Int32
    /// The stacks that have arrived, by the number of the thread in its own PID namespace.
    private var stacks: [UInt64: [UInt64]] = [:]

    /// Looks at the threads of a launch.
    ///
    /// - Parameters:
    ///   - process: The process of the handler.
    ///   - all: All processes of the launch.
    ///   - time: The present time on CLOCK_MONOTONIC.
    ///   - cause: Why the launch ends.
    ///   - map: The memory map of that process, if it could be read.
    init(of process: Int32, among all: [Int32], at time: Duration, cause: Cause, map: CodeMap?) {
        at = time
        self.cause = cause
        self.process = process
        self.map = map
        let others = all.filter { $0 != process }
        threads = ThreadSight.all(of: [process] + others, limit: Self.maximumThreads)
        if case .crash(let crash) = cause { stacks[crash.thread] = crash.addresses }
    }

    /// Stores a stack that has arrived.
    mutating func took(_ message: StackMessage) {
        guard stacks.count < Self.maximumThreads, stacks[message.thread] == nil else { return }
        stacks[message.thread] = message.addresses
    }

    /// Whether at least one stack has arrived.
    var hasStacks: Bool { !stacks.isEmpty }

    /// The main thread of the handler's process.
    var mainThread: ThreadSight? { threads.first { $0.use.thread == process } }

    private func addresses(of thread: ThreadSight) -> [UInt64] {
        thread.use.process == process ? stacks[UInt64(thread.innermostNumber)] ?? [] : []
    }

    private func isFatal(_ thread: ThreadSight) -> Bool {
        guard case .crash(let crash) = cause else { return false }
        return thread.use.process == process && UInt64(thread.innermostNumber) == crash.thread
    }

    /// The texts of a stack; reads the files of the code for the names of functions.
    func frames(of addresses: [UInt64], _ names: inout CodeNames) -> [String] {
        names.frames(of: Array(addresses.prefix(Self.shownFrames))).map { frame in
            frame.text.count > Self.frameLength ? frame.text.prefix(Self.frameLength) + "..." : frame.text
        }
    }

    /// An empty table of names for the addresses of this moment.
    var names: CodeNames { CodeNames(map: map) }

    /// The threads for the report: first the one that crashed, then those with a stack, then by CPU time.
    func report(_ names: inout CodeNames) -> (shown: [TerminationReport.Thread], further: Int) {
        let sorted = threads.sorted { left, right in
            rank(left) != rank(right) ? rank(left) < rank(right) : left.use.cpuTime > right.use.cpuTime
        }
        let shown = sorted.prefix(Self.shownThreads).map { thread in
            TerminationReport.Thread(
                number: thread.use.thread, name: OutputLines.harmless(thread.use.name),
                isFatal: isFatal(thread), cpuSeconds: thread.use.cpuTime.inSeconds, state: thread.state,
                systemCall: thread.systemCall, waitChannel: thread.waitChannel,
                frames: frames(of: addresses(of: thread), &names))
        }
        return (missing(&names) + shown, max(0, threads.count - Self.shownThreads))
    }

    /// The thread that crashed, if its process had ended before the host could look at it.
    private func missing(_ names: inout CodeNames) -> [TerminationReport.Thread] {
        guard case .crash(let crash) = cause, !threads.contains(where: isFatal) else { return [] }
        return [
            TerminationReport.Thread(
                number: Int32(truncatingIfNeeded: crash.thread), name: "", isFatal: true, cpuSeconds: 0,
                state: "ended", systemCall: nil, waitChannel: nil, frames: frames(of: crash.addresses, &names)
            )
        ]
    }

    private func rank(_ thread: ThreadSight) -> Int {
        if isFatal(thread) { return 0 }
        if thread.use.thread == process { return 1 }
        return addresses(of: thread).isEmpty ? 3 : 2
    }

    /// The lines that `bgtask show` prints about the main thread of a launch that was killed at its deadline.
    func mainThreadLines(_ names: inout CodeNames) -> [String] {
        let addresses = mainThread.map(addresses(of:)) ?? []
        guard !addresses.isEmpty else {
            return [
                "no stack of the main thread: it did not answer in time, or it blocks the signal that requests the stack"
            ]
        }
        return ["main thread, shortly before the kill:"] + frames(of: addresses, &names).map { "  " + $0 }
    }
}
