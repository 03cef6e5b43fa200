import LinuxSystem
import Synchronization

/// This process's end of the socket that keeps a ``LeashedProgram`` running.
final class LeashEnd: Sendable {
    private let socket: Mutex<DescriptorSocket?>

    init(_ socket: DescriptorSocket) { self.socket = Mutex(socket) }

    /// Closes the socket; the shell at the other end notices immediately and stops its program.
    func drop() { socket.withLock { $0 = nil } }
}
