import Glibc

/// The limit of open descriptors of this process (`RLIMIT_NOFILE`), which its child processes inherit.
public enum DescriptorLimit {
    /// Raises the soft limit to the hard limit, which every process may do.
    ///
    /// The usual soft limit of 1024 is for programs that call `select`, which the host and the launcher never
    /// do. The tasks get their own limit.
    ///
    /// - Returns: The limit that is now in force; `nil` if it can't be read.
    @discardableResult
    public static func raise() -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        let soft = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { limit.rlim_cur = soft }
        return Int(clamping: limit.rlim_cur)
    }
}
