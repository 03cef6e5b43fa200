import Glibc

/// Whom a delivered file belongs to, and who may use it.
struct FileAccess {
    var owner = geteuid()
    var group = getegid()
    var mode: mode_t

    /// The access of a new file, 0644 without what the umask of this process removes.
    static var new: FileAccess { FileAccess(mode: 0o644 & ~mask) }

    /// The access of a file that replaces the one under a name: the same, as far as this process may give it.
    ///
    /// In a directory in which every user can make files, one that belongs neither to this process nor to the
    /// owner of the directory could be there so that its owner can read what comes.
    init(replacing name: String, in directory: borrowing PlaceDirectory) {
        self = .new
        guard let file = directory.facts(name), file.st_mode & S_IFMT == S_IFREG,
            let folder = directory.facts(".")
        else { return }
        let isOpenToAll = folder.st_mode & mode_t(S_ISVTX) != 0 && folder.st_mode & 0o022 != 0
        if isOpenToAll, ![owner, folder.st_uid].contains(file.st_uid) { return }
        mode = file.st_mode & 0o777
        if owner == 0 {
            (owner, group) = (file.st_uid, file.st_gid)
        } else if file.st_gid != group {
            // The rights were those of another group.
            mode &= ~0o070
        }
    }

    private init(mode: mode_t) { self.mode = mode }

    /// The umask of the process when it first asked.
    ///
    /// The call `umask` also returns it, but changes it for a moment.
    private static let mask: mode_t = {
        let text = (try? FileContents.read("/proc/self/status")) ?? []
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("Umask:") }
        return line.flatMap { mode_t($0.dropFirst(6).drop { $0 == "\t" || $0 == " " }, radix: 8) } ?? 0o022
    }()
}
