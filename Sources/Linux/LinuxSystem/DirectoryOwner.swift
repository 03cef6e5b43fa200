import CLinuxShims
import Glibc

/// Directories of users other than the host's; only root can give them away.
extension DirectoryTree {
    /// Creates a directory and its missing parents for a user; an existing directory stays unchanged.
    ///
    /// Users may own directories on the way, and change them meanwhile.
    ///
    /// - Parameters:
    ///   - path: An absolute path without links.
    ///   - owner: The number of the user who owns the new directories.
    ///   - group: The number of the group that owns the new directories.
    ///   - mode: The permissions of the new directories.
    /// - Throws: The call that failed; its subject is the whole path.
    public static func make(
        _ path: String, owner: UInt32, group: UInt32, mode: UInt32 = 0o700
    ) throws(SystemCallError) {
        try retryingOnInterrupt("mkdir or chown", path) { lx_make_owned(path, owner, group, mode) }
    }

    /// Creates a directory and its missing parents for this process's user, and follows no link on the way.
    ///
    /// - Parameter path: An absolute path without links; other users may change its directories meanwhile.
    /// - Throws: The call that failed, such as ``SystemCallError/isOfNoDirectory`` for a link.
    public static func makeWithoutLinks(_ path: String) throws(SystemCallError) {
        try make(path, owner: geteuid(), group: getegid())
    }

    /// Makes a user the owner of a directory and of its contents, and the user's group their group.
    ///
    /// Links are not followed. Files with several names keep their owner, because a name can be outside the
    /// directory. The same holds for files of users other than this process's and `formers`.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - user: The number of the user and of the group.
    ///   - formers: The users whose files change their owner, too.
    /// - Throws: The call that failed; the directory itself then still has its former owner. If directories
    ///   are nested more than 200 deep, the error is ``SystemCallError/isTooDeep``.
    public static func give(
        _ path: String, to user: UInt32, of formers: ClosedRange<UInt32>
    ) throws(SystemCallError) {
        try retryingOnInterrupt("chown", path) {
            lx_give_tree(path, user, formers.lowerBound, formers.upperBound)
        }
    }

    /// Sets the owner, the group and the permissions of a directory that only this process can replace.
    ///
    /// - Throws: The `chown` or `chmod` that failed.
    public static func set(
        _ path: String, owner: UInt32, group: UInt32, mode: UInt32
    ) throws(SystemCallError) {
        try retryingOnInterrupt("chown", path) { lchown(path, owner, group) }
        try setMode(path, mode)
    }

    /// The number of the user who owns a directory; `nil` if it is a link, no directory, or not there.
    public static func owner(of path: String) -> UInt32? {
        guard let step = try? PathWalk.Step.at(path), step.kind == .directory else { return nil }
        return step.owner
    }

    /// Takes all rights of other users from a file or directory, unless it is a link or a socket.
    ///
    /// - Throws: The `chmod` that failed.
    public static func close(_ path: String) throws(SystemCallError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        let kind = status.st_mode & mode_t(S_IFMT)
        guard kind == mode_t(S_IFREG) || kind == mode_t(S_IFDIR) else { return }
        try retryingOnInterrupt("chmod", path) { chmod(path, status.st_mode & 0o7700) }
    }
}
