import CLinuxShims
import Glibc

/// Kills the processes of a group.
extension ControlGroup {
    /// Kills all processes in this group and in the groups below it.
    ///
    /// - Throws: The write to `cgroup.kill` that failed; kernels before 5.14 do not have this file.
    public func kill() throws(SystemCallError) {
        try SmallFile.write("1", to: path + "/cgroup.kill")
        killListed()
    }

    /// Kills each listed process by itself.
    ///
    /// The kernel's own kill signals only first threads, and so misses a process whose first thread has ended
    /// while others go on.
    func killListed() {
        for group in children() { group.killListed() }
        for process in processes where process > 1 { killMember(process) }
    }

    /// Kills a process from the list, unless it has ended and another process has its number.
    ///
    /// The descriptor refers to the process that has the number now. If the group that is read afterwards was
    /// that of another process, the first one had been reaped, and the signal reaches no process. So one read
    /// is enough for each process, and two descriptors for all.
    private func killMember(_ process: Int32) {
        let handle = lx_pidfd_open(process, 0)
        let code = errno
        defer { if handle >= 0 { _ = close(handle) } }
        // It has ended, or the number is that of a thread by now.
        if handle < 0, code == ESRCH || code == EINVAL { return }
        guard contains(process) == true else { return }
        if handle >= 0 {
            _ = lx_pidfd_send_signal(handle, SIGKILL)
        } else {
            // The filter of a container can refuse the descriptor, or none is free. The number was that of a
            // process of this group a moment ago.
            _ = Glibc.kill(process, SIGKILL)
        }
    }
}
