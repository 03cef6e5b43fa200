import Glibc

/// A path followed as the kernel follows it: directory by directory, link by link.
///
/// If the end of the path does not exist yet, that part stays as it was given, without links.
public struct PathWalk: Equatable, Sendable {
    /// Something that was passed on the way.
    public struct Step: Equatable, Sendable {
        /// What it is.
        public enum Kind: Equatable, Sendable {
            /// A directory that was entered, or the path's end.
            case directory
            /// A symbolic link that was followed.
            case link
            /// Anything else, at the path's end.
            case file
        }

        /// Where it is, without links before it.
        public let path: String
        /// What it is.
        public let kind: Kind
        /// The owner's user id.
        public let owner: UInt32
        /// The permission bits, set-id and sticky bits included.
        public let mode: UInt32

        /// Looks at what has this path, which is not followed if it is a link.
        ///
        /// - Returns: `nil` if nothing has it.
        /// - Throws: The `lstat` that failed.
        public static func at(_ path: String) throws(SystemCallError) -> Step? {
            try PathWalk.look(at: path)
        }
    }

    /// What exists on the way, the root first, in the order in which the kernel looks at it.
    public let steps: [Step]
    /// The absolute path without links.
    public let realPath: String

    /// The kernel's own limit (`path_resolution(7)`).
    private static let mostLinks = 40

    /// Follows a path; a relative one begins in the working directory.
    ///
    /// - Throws: The call that failed: `ELOOP` after 40 links, `EACCES` for a directory that can't be
    ///   searched, `ENOENT` for `..` behind what does not exist.
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

    /// Whether the path is a directory or file, or something below it; both without links.
    public static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory == "/" ? "/" : directory + "/")
    }

    /// A path's names, the first one last.
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
