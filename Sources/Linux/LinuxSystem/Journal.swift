import Glibc
import Synchronization

/// systemd's journal, which takes records with fields through a socket; systemd documents its native
/// protocol.
///
/// All functions can be called from any thread.
public final class Journal: Sendable {
    private static let address = "/run/systemd/journal/socket"
    private let socket: Mutex<DatagramSocket>

    /// Connects to the journal of this machine; `nil` if it has none.
    public init?() {
        guard let socket = DatagramSocket(address: Self.address) else { return nil }
        self.socket = Mutex(socket)
    }

    /// Sends a record, and waits while the journal's queue is full.
    ///
    /// - Parameter fields: Lines of the form `NAME=value`; a name has capital letters, digits and
    ///   underscores.
    /// - Returns: Whether the journal got it. If the journal was started again, the record goes to the new
    ///   one.
    public func send(_ fields: String) -> Bool {
        if socket.withLock({ $0 }).sendWaiting(fields) { return true }
        guard let next = DatagramSocket(address: Self.address) else { return false }
        socket.withLock { $0 = next }
        return next.sendWaiting(fields)
    }

    /// Whether systemd has connected this process's standard error to the journal: `JOURNAL_STREAM` then has
    /// the device and the inode of its socket.
    public static var hasStandardError: Bool {
        var status = stat()
        guard let stream = ProcessFacts.environment("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0
        else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
