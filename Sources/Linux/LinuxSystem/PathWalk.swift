import Glibc

/// A path that is resolved in the same way as by the kernel: directory by directory, link by link.
///
/// If the path does not exist from some name on, these names stay unchanged in ``realPath``.
public struct PathWalk: Equatable, Sendable {
    /// A directory, link or file on the way.
    public struct Step: Equatable, Sendable {
        /// The kind of a step.
        public enum Kind: Equatable, Sendable {
            /// A directory on the way or at the end of the path.
            case directory
            /// A symbolic link, which was followed.
            case link
            /// Anything else, at the end of the path.
            case file
        }

        /// The path of the step, without links before its last name.
        public let path: String
        /// The kind of the step.
        public let kind: Kind
        /// The user id of the owner.
        public let owner: UInt32
        /// The permission bits, with the set-id and sticky bits.
        public let mode: UInt32

        /// Examines a path without following a link at its end.
        ///
        /// - Returns: The step; `nil` if the path does not exist.
        /// - Throws: The `lstat` that failed.
        public static func at(_ path: String) throws(SystemCallError) -> Step? {
            try PathWalk.look(at: path)
        }
    }

    /// The existing directories, links and files on the way, from the root on, in the kernel's order.
    public let steps: [Step]
    /// The absolute path, with all links resolved.
    public let realPath: String

    /// The largest number of links, the same as the kernel's (`path_resolution(7)`).
    private static let mostLinks = 40

    /// Resolves a path; a relative path begins in the working directory.
    ///
    /// - Throws: The call that failed: `ELOOP` after 40 links, `EACCES` for a directory that may not be
    ///   searched, `ENOENT` for `..` after a name that does not exist.
    public init(_ path: String) throws(SystemCallError) {
        let start = path.hasPrefix("/") ? "" : try DirectoryTree.realPath(of: ".")
        var waiting = Self.names("\(start)/\(path)")
        var steps = [try Self.look(at: "/")].compactMap(\.self)
        var real = ""
        var isMissing = false
        var links = 0
        while let name = waiting.popLast() {
            if name == ".." {
                if isMissing { throw SystemCallError(call: "lstat", subject: real, code: ENOENT) }
                real = String(real[..<(real.lastIndex(of: "/") ?? real.startIndex)])
                continue
            }
            let next = "\(real)/\(name)"
            guard !isMissing, let step = try Self.look(at: next) else {
                isMissing = true
                real = next
                continue
            }
            steps.append(step)
            guard step.kind == .link else {
                real = next
                continue
            }
            links += 1
            if links > Self.mostLinks { throw SystemCallError(call: "lstat", subject: next, code: ELOOP) }
            let target = try Self.target(of: next)
            if target.hasPrefix("/") { real = "" }
            waiting += Self.names(target)
        }
        self.steps = steps
        realPath = real.isEmpty ? "/" : real
    }

    /// What the link at a path refers to, as it is written there.
    ///
    /// - Parameter path: An absolute path; links before its last name are followed.
    /// - Returns: The target; `nil` if there is no link, or it can't be read.
    public static func linkTarget(at path: String) -> String? { try? target(of: path) }

    /// Whether a path is the directory or inside it; both paths must not contain links.
    public static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory == "/" ? "/" : directory + "/")
    }

    /// The path without empty names, `.` and `..`; links are not followed.
    public static func normalized(_ path: String) -> String {
        var names: [Substring] = []
        for name in path.split(separator: "/") where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return "/" + names.joined(separator: "/")
    }

    /// The names in a path, in reverse order.
    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
    }

    private static func look(at path: String) throws(SystemCallError) -> Step? {
        var status = stat()
        do {
            try retryingOnInterrupt("lstat", path) { lstat(path, &status) }
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        let kind: Step.Kind =
            switch status.st_mode & mode_t(S_IFMT) {
            case mode_t(S_IFDIR): .directory
            case mode_t(S_IFLNK): .link
            default: .file
            }
        return Step(path: path, kind: kind, owner: status.st_uid, mode: UInt32(status.st_mode) & 0o7777)
    }

    private static func target(of link: String) throws(SystemCallError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try retryingOnInterrupt("readlink", link) { readlink(link, &buffer, buffer.count) }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
