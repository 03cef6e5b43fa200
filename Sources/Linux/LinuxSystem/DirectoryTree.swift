import CLinuxShims
import Glibc

/// Directories that the host owns.
public enum DirectoryTree {
    /// Creates a directory and its missing parents; an existing directory stays unchanged.
    ///
    /// - Parameters:
    ///   - path: An absolute or relative path.
    ///   - mode: The permissions of new directories, reduced by the umask.
    /// - Throws: The `mkdir` that failed.
    public static func make(_ path: String, mode: UInt32 = 0o700) throws(SystemCallError) {
        if isDirectory(path) { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try make(String(path[..<slash]), mode: mode)
        }
        do {
            try retryingOnInterrupt("mkdir", path) { mkdir(path, mode_t(mode)) }
        } catch  where error.code == EEXIST && isDirectory(path) {
            return
        }
    }

    /// Whether nothing exists at a path; if access is denied, the answer is false.
    public static func isMissing(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) != 0 else { return false }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Whether the path is a directory, or a link to one.
    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
    }

    /// Removes a directory with its contents, without following links; if it does not exist, nothing happens.
    ///
    /// - Throws: The call that failed; part of the contents may already have been removed.
    public static func remove(_ path: String) throws(SystemCallError) {
        let code = lx_remove_tree(path)
        let failure = errno
        if code != 0 && failure != ENOENT {
            throw SystemCallError(call: "unlinkat", subject: path, code: failure)
        }
    }

    /// Counts the space that directory trees occupy; those that do not exist occupy none.
    ///
    /// - Parameters:
    ///   - paths: The directories.
    ///   - most: How many entries are counted at most, in all trees.
    /// - Returns: The allocated bytes, and whether all entries were counted.
    public static func size(of paths: [String], most: Int64) -> (bytes: Int64, isComplete: Bool) {
        var (bytes, left, isComplete) = (Int64(0), most, true)
        for path in paths where isComplete {
            let size = lx_tree_size(path, left)
            bytes += size.bytes
            left = size.left
            isComplete = size.is_complete
        }
        return (bytes, isComplete)
    }

    /// Resolves all links in a path, which must exist, and makes it absolute.
    ///
    /// - Throws: The `realpath` that failed.
    public static func realPath(of path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw SystemCallError(call: "realpath", subject: path, code: errno)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
