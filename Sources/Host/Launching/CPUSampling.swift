import LinuxSystem
import RunnerWire
import TaskModel

/// What the threads of a launch did after half of its CPU quota was used.
///
/// It is for the report of a launch that ends for the reason `cpuLimit`.
struct CPUSampling: Sendable {
    /// The greatest number of stacks that are kept.
    static let maximumStacks = 32
    /// The greatest number of threads that a report lists.
    static let shownThreads = 5

    private struct Stack {
        let thread: Int32
        let addresses: [UInt64]
    }

    private var first: [Int32: Duration] = [:]
    private var last: [Int32: Duration] = [:]
    /// Every thread that was ever found, with its newest CPU time.
    private var threads: [Int32: ThreadUse] = [:]
    private var stacks: [Stack] = []
    /// The memory map of the process that was asked last for a stack; it gives names to addresses.
    private var map: CodeMap?
    private var looks = 0
    /// Whether the map could not be read once; it is not read again.
    private var heldUp = false

    /// Records all threads; returns the thread that used the most CPU time since the last call.
    ///
    /// In the first call, the CPU time since the start of each thread counts.
    mutating func look(at seen: [ThreadUse]) -> ThreadUse? {
        looks += 1
        var heaviest: (thread: ThreadUse, time: Duration)?
        for thread in seen {
            let time = thread.cpuTime - (last[thread.thread] ?? .zero)
            if first[thread.thread] == nil { first[thread.thread] = looks == 1 ? thread.cpuTime : .zero }
            last[thread.thread] = thread.cpuTime
            threads[thread.thread] = thread
            if time > heaviest?.time ?? .zero { heaviest = (thread, time) }
        }
        return heaviest?.thread
    }

    /// Stores the memory map of a process, which `read` returns, before the process is asked for a stack.
    mutating func willAsk(_ read: () -> PatientMaps.Answer) {
        if heldUp { return }
        switch read() {
        case .map(let new): map = new ?? map
        case .missing: heldUp = true
        }
    }

    /// Adds a stack; `thread` is the thread's number in the host's PID namespace.
    mutating func took(_ message: StackMessage, ofThread thread: Int32) {
        if stacks.count < Self.maximumStacks, !message.addresses.isEmpty {
            stacks.append(Stack(thread: thread, addresses: message.addresses))
        }
    }

    /// The lines of the report; reads the files of the code for the names of functions.
    func lines() -> [String] {
        var lines: [String] = []
        let used = threads.values.map { ($0, $0.cpuTime - (first[$0.thread] ?? .zero)) }
            .sorted { ($0.1, $1.0.thread) > ($1.1, $0.0.thread) }
        if !used.isEmpty {
            lines.append("threads, by CPU time since half of the quota was spent:")
            for (thread, time) in used.prefix(Self.shownThreads) {
                lines.append("  \(time.tenthsText) s  \(thread.thread) \(OutputLines.harmless(thread.name))")
            }
            if used.count > Self.shownThreads {
                lines.append("  and \(used.count - Self.shownThreads) more")
            }
        }
        return lines + stackLines()
    }

    private func stackLines() -> [String] {
        guard !stacks.isEmpty else {
            return [
                "no stack: the busiest thread did not answer, or belongs to a process that the task started"
            ]
        }
        var names = CodeNames(map: map)
        let named = stacks.map { (stack: $0, frames: names.frames(of: $0.addresses)) }
        // Stacks with the same functions in the same order count as equal, whatever the addresses in them.
        let groups = Dictionary(grouping: named) { $0.frames.map(\.function) }
        guard
            let heaviest = groups.values.max(by: {
                ($0.count, $0.last?.stack.addresses.count ?? 0) < (
                    $1.count, $1.last?.stack.addresses.count ?? 0
                )
            }), let newest = heaviest.last
        else { return [] }
        let thread = newest.stack.thread
        let name = threads[thread].map { " " + OutputLines.harmless($0.name) } ?? ""
        return [
            "most frequent stack, in \(heaviest.count) of \(stacks.count) samples, of thread \(thread)\(name):"
        ]
            + newest.frames.map { "  " + $0.text }
    }
}
