import Glibc

/// The mounts that this process sees, which tell where a path lies in its file system.
///
/// One directory can have several paths, because a bind mount shows a part of a file system at a second
/// place.
public struct MountTable: Sendable {
    /// A place in a file system, which is the same for all paths that lead there.
    public struct Location: Equatable, Sendable {
        /// The number of the file system's device, such as `8:1`.
        let device: String
        /// The path from the root of the file system.
        let path: String

        /// Whether one of two places contains the other, or both are the same.
        public func overlaps(_ other: Location) -> Bool {
            device == other.device
                && (PathWalk.isInside(path, other.path) || PathWalk.isInside(other.path, path))
        }

        /// Whether this place is the other one or inside it.
        public func isInside(_ other: Location) -> Bool {
            device == other.device && PathWalk.isInside(path, other.path)
        }
    }

    private struct Mount {
        let point: String
        let root: Location
    }

    private var mounts: [Mount] = []

    /// Reads the mounts that exist now; the table is empty if /proc is not mounted.
    public init() {
        self.init(text: (try? SmallFile.read("/proc/self/mountinfo")) ?? "")
    }

    /// Reads the text of a `mountinfo`; see proc_pid_mountinfo(5).
    init(text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count > 4 else { continue }
            let root = Location(device: String(fields[2]), path: Self.unescaped(fields[3]))
            mounts.append(Mount(point: Self.unescaped(fields[4]), root: root))
        }
    }

    /// Where a path lies.
    ///
    /// - Parameter path: An absolute path without links.
    /// - Returns: Its own place first, then the file systems that are mounted below it.
    public func locations(of path: String) -> [Location] {
        // A later mount at the same point hides the earlier one.
        var holder: Mount?
        for mount in mounts where PathWalk.isInside(path, mount.point) {
            if mount.point.utf8.count >= holder?.point.utf8.count ?? 0 { holder = mount }
        }
        guard let holder else { return [] }
        let rest = path.dropFirst(holder.point == "/" ? 0 : holder.point.count)
        let inner = rest == "/" ? "" : rest
        let own = holder.root.path == "/" ? (inner.isEmpty ? "/" : String(inner)) : holder.root.path + inner
        let below = mounts.filter { $0.point != path && PathWalk.isInside($0.point, path) }
        return [Location(device: holder.root.device, path: own)] + below.map(\.root)
    }

    /// A path with the kernel's escapes resolved: `\040` is a space.
    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("\\") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ 48...55 ~= $0 }) {
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1 - 48) }))
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
