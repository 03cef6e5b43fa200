import LinuxSystem

/// Lists the Swift files below a directory.
enum SourceTree {
    /// The depth at which the search stops, in directories.
    private static let deepest = 64

    /// The paths of the Swift files, depth first, each directory's names in byte order.
    ///
    /// Names that begin with a dot are skipped. Each directory is searched once, even if links lead to it
    /// again.
    ///
    /// - Throws: ``SystemCallError`` if a directory can't be read.
    static func files(in directory: String) throws(SystemCallError) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        try collect(directory, 0, &seen, &files)
        return files
    }

    private static func collect(
        _ directory: String, _ depth: Int, _ seen: inout Set<String>, _ files: inout [String]
    ) throws(SystemCallError) {
        guard depth < deepest, seen.insert(try DirectoryTree.realPath(of: directory)).inserted else { return }
        for name in try DirectoryTree.names(in: directory) where !name.hasPrefix(".") {
            let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            if DirectoryTree.isDirectory(path) {
                try collect(path, depth + 1, &seen, &files)
            } else if name.hasSuffix(".swift") {
                files.append(path)
            }
        }
    }
}
