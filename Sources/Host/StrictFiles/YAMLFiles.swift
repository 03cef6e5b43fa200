public import LinuxSystem

/// The YAML files of a directory that is watched.
public enum YAMLFiles {
    /// The paths of those that count, sorted by bytes: `.yaml` and `.yml`, without those that begin with a
    /// dot, which are on their way.
    ///
    /// - Throws: The `opendir` that failed.
    public static func paths(in directory: String) throws(SystemCallError) -> [String] {
        try DirectoryTree.names(in: directory)
            .filter { ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml")) && !$0.hasPrefix(".") }
            .map { "\(directory)/\($0)" }
    }
}
