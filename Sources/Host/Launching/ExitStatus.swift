/// A decoded wait status, as `waitpid` returns it on Linux.
struct ExitStatus: Equatable, Sendable {
    /// The exit status; `nil` if a signal ended the process.
    let code: Int32?
    /// The signal that ended the process; `nil` if it exited.
    let signal: Int32?

    /// The exit status of a runner that does not understand the host (Documentation/RunnerProtocol.md).
    static let hostViolation: Int32 = 70

    /// The number of SIGKILL.
    static let killSignal: Int32 = 9

    init(waitStatus: UInt64) {
        let low = Int32(truncatingIfNeeded: waitStatus & 0x7F)
        if low == 0 {
            code = Int32(truncatingIfNeeded: (waitStatus >> 8) & 0xFF)
            signal = nil
        } else {
            code = nil
            signal = low
        }
    }

    /// The status of a process that exited.
    static func exit(_ code: Int32) -> Self { Self(waitStatus: UInt64(code & 0xFF) << 8) }
    /// The status of a process that a signal ended.
    static func signal(_ signal: Int32) -> Self { Self(waitStatus: UInt64(signal & 0x7F)) }

    /// The name of a signal, such as `SIGSEGV`, or for other signals `signal 42`.
    ///
    /// The numbers are those of Linux on x86-64 and arm64.
    static func name(ofSignal signal: Int32) -> String {
        let names: [Int32: String] = [
            1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS",
            8: "SIGFPE",
            9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM",
            15: "SIGTERM",
            24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
