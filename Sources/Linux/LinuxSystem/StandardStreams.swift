import Glibc

/// Complete reads and writes of standard input and output.
public enum StandardStreams {
    /// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed.
    ///
    /// Otherwise, the next file that the program opens gets such a number, and messages are written into it.
    /// Must be called before anything else is opened.
    public static func openMissing() {
        while true {
            // Without O_CLOEXEC, because child processes need these descriptors, too.
            let descriptor = open("/dev/null", O_RDWR)
            if descriptor > STDERR_FILENO { _ = close(descriptor) }
            if descriptor < 0 || descriptor > STDERR_FILENO { return }
        }
    }

    /// Writes text to standard output immediately.
    ///
    /// - Throws: The `write` that failed; `EPIPE` if the reader is gone.
    public static func write(_ text: String) throws(SystemCallError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = try retryingOnInterrupt("write", "standard output") {
                bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Reads standard input to its end.
    ///
    /// - Throws: The `read` that failed.
    public static func read() throws(SystemCallError) -> [UInt8] {
        try readToEnd(of: STDIN_FILENO, "standard input")
    }

    /// Reads a file, or a pipe such as the shell's `<(command)`, to its end.
    ///
    /// - Throws: The call that failed.
    public static func read(path: String) throws(SystemCallError) -> [UInt8] {
        let stream = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) })
        return try readToEnd(of: stream.rawValue, path)
    }

    private static func readToEnd(of descriptor: CInt, _ subject: String) throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try retryingOnInterrupt("read", subject) {
                Glibc.read(descriptor, &chunk, chunk.count)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk.prefix(count))
        }
    }
}
