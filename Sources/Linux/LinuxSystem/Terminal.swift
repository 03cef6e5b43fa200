import Glibc

/// Properties of the terminal on standard output or standard error.
public enum Terminal {
    /// Whether standard output is a terminal.
    public static var isStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    public static var isStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// The number of columns of the terminal on standard output; `nil` if it is not a terminal.
    public static var width: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Ignores SIGPIPE, so that a write to a closed pipe fails with `EPIPE` instead of ending the process.
    ///
    /// With `| head`, for example, the process can then end normally.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
