import Glibc

/// Tells whether something was mounted or unmounted in this process's mount namespace.
///
/// Not thread-safe.
public struct MountWatch: ~Copyable {
    private let table: Int32

    /// Watches from now on; without /proc, nothing is seen.
    public init() {
        table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        // The first look is at the state of the opening.
        _ = hasChanged()
    }

    deinit { _ = close(table) }

    /// Whether something has changed since the last call; takes about a microsecond.
    public func hasChanged() -> Bool {
        // The kernel reports a change once for each opened file; see proc_pid_mounts(5).
        var state = pollfd(fd: table, events: Int16(POLLPRI), revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLPRI) != 0
    }
}
