import LinuxSystem

/// The source files of a plugin at one moment; comparing two snapshots shows whether a source changed.
///
/// Files that builds write are not included.
public struct SourceSnapshot: Equatable, Sendable {
    private static let endings = [
        ".swift", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".rs", ".zig", ".go", ".yaml", ".yml", ".map",
        ".modulemap",
        ".json", ".toml", ".txt", ".sql", "akefile",
    ]
    private static let deepest = 16

    private var files: [String: FileIdentity] = [:]
    /// The directories that were searched, so that the caller can watch them.
    public private(set) var directories: Set<String> = []

    /// Records the sources below a directory; names that begin with a dot are skipped.
    public init(_ directory: String) { look(directory, 0) }

    /// Whether a source was added, removed or changed between the two snapshots.
    public func differs(from other: Self) -> Bool { files != other.files }

    private mutating func look(_ directory: String, _ depth: Int) {
        guard depth < Self.deepest, let names = try? DirectoryTree.names(in: directory) else { return }
        directories.insert(directory)
        for name in names where !name.hasPrefix(".") && name != "Package.resolved" {
            let path = "\(directory)/\(name)"
            if DirectoryTree.isDirectory(path) {
                look(path, depth + 1)
            } else if Self.endings.contains(where: { name.hasSuffix($0) }) {
                files[path] = try? FileIdentity(of: path)
            }
        }
    }
}
