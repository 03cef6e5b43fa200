import CLinuxShims
import Glibc
public import TaskModel

/// The bytes that the sockets of a cgroup receive and send, counted by the kernel.
///
/// A socket belongs to the group in which it was made, also after its process has left the group. The count
/// includes TCP, UDP and every other protocol over IP, on every network device, loopback included.
public final class NetworkCounter: Sendable {
    private let counter: OwnedDescriptor

    /// Begins to count; the kernel goes on until the group is removed.
    ///
    /// - Throws: The system call that failed. The kernel permits it to root, or with CAP_BPF and
    ///   CAP_NET_ADMIN; most containers have neither.
    public init(of group: ControlGroup) throws(SystemCallError) {
        counter = OwnedDescriptor(
            taking: try retryingOnInterrupt("bpf", group.path) { lx_count_network(group.path) })
    }

    /// The bytes since this object was made; `nil` if the kernel does not say.
    public func bytes() -> NetworkBytes? {
        var (received, sent): (UInt64, UInt64) = (0, 0)
        guard lx_network_bytes(counter.rawValue, &received, &sent) == 0 else { return nil }
        return NetworkBytes(
            received: ByteCount(bytes: Int64(clamping: received)),
            sent: ByteCount(bytes: Int64(clamping: sent)))
    }
}
