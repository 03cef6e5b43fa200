import Glibc

/// What is known of the terminal behind a standard descriptor.
public enum Terminal {
    /// Whether standard output is a terminal.
    public static var isStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    public static var isStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal on standard output; `nil` if it is not one.
    public static var width: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Lets a write to a closed pipe fail with `EPIPE` rather than end the process, so that `| head` ends it
    /// in order.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
