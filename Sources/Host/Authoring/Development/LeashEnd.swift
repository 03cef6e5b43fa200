import LinuxSystem
import Synchronization

/// Our end of a leash, which can be let go.
final class LeashEnd: Sendable {
    private let socket: Mutex<DescriptorSocket?>

    init(_ socket: DescriptorSocket) { self.socket = Mutex(socket) }

    /// Lets go; the other end sees it immediately.
    func drop() { socket.withLock { $0 = nil } }
}
