import LinuxSystem

/// Where the main thread of a launch was shortly before it was killed at its deadline.
struct MainThreadStack: Sendable {
    /// The stack that came, innermost first; empty until it has come.
    var addresses: [UInt64] = []
    /// The code of the process, read while it lives.
    private let map: CodeMap?

    /// Prepares for the answer of a process.
    init(of process: Int32) { map = CodeMap(of: process) }

    /// The report's lines; reads the files of the code to name functions.
    func lines() -> [String] {
        guard !addresses.isEmpty else {
            return ["no stack of the main thread: it did not answer in time, or blocks the signal that asks"]
        }
        var names = CodeNames(map: map)
        return ["main thread, shortly before the kill:"] + names.frames(of: addresses).map { "  " + $0.text }
    }
}
