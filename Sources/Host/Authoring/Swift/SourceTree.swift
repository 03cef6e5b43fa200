import LinuxSystem

/// The Swift files below a directory.
enum SourceTree {
    /// Levels of directories that are gone down: more than any package has.
    private static let deepest = 64

    /// The paths, sorted by bytes; names that begin with a dot are left out, and links to directories are not
    /// followed twice.
    ///
    /// - Throws: The directory can't be read.
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
