import Glibc

/// The groups of users.
public enum UserGroup {
    /// The number of a group; `nil` if no group with this name is found.
    ///
    /// A name that is a number as text is that number, and is not looked up.
    public static func number(of name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        // A group with thousands of members needs more than sysconf(_SC_GETGR_R_SIZE_MAX) says.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 20) { buffer in
            guard let start = buffer.baseAddress,
                getgrnam_r(name, &entry, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return entry.gr_gid
        }
    }
}
