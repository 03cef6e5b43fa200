import LinuxSystem

/// The stack of a launch's main thread, shortly before the launch was killed at its deadline.
struct MainThreadStack: Sendable {
    /// The addresses of the stack, innermost first; empty until the answer has arrived.
    var addresses: [UInt64] = []
    /// The memory map of the process, which is read while the process exists.
    private let map: CodeMap?

    /// Reads the memory map of a process, before the process is asked for its stack.
    init(of process: Int32) { map = CodeMap(of: process) }

    /// The lines of the report; reads the files of the code for the names of functions.
    func lines() -> [String] {
        guard !addresses.isEmpty else {
            return [
                "no stack of the main thread: it did not answer in time, or it blocks the signal that requests the stack"
            ]
        }
        var names = CodeNames(map: map)
        return ["main thread, shortly before the kill:"] + names.frames(of: addresses).map { "  " + $0.text }
    }
}
