import CLinuxShims

/// How many threads the machine has, by one system call.
public enum MachineThreads {
    /// The number of all threads of all processes, modulo 65,536: the kernel reports it in 16 bits.
    public static func count() -> UInt16 { lx_thread_count() }
}
