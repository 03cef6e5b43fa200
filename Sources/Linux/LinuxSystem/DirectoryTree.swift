import CLinuxShims
import Glibc

/// Directories that the host owns.
public enum DirectoryTree {
    /// Makes a directory and those above it; an existing one is left as it is.
    ///
    /// - Parameters:
    ///   - path: An absolute or relative path.
    ///   - mode: The permissions of directories that are made, less the umask.
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

    /// Whether nothing is at a path; what may not be looked at counts as there.
    public static func isMissing(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) != 0 else { return false }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Whether there is a directory at the path, links followed.
    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
    }

    /// Removes a directory with everything in it, following no link; what is not there is no error.
    ///
    /// - Throws: The call that failed; what could be removed is gone.
    public static func remove(_ path: String) throws(SystemCallError) {
        let code = lx_remove_tree(path)
        let failure = errno
        if code != 0 && failure != ENOENT {
            throw SystemCallError(call: "nftw", subject: path, code: failure)
        }
    }

    /// The absolute path without links; the path itself must exist.
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
