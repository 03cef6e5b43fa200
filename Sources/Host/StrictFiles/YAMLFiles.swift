public import LinuxSystem

/// Lists the YAML files in a directory.
public enum YAMLFiles {
    /// The paths of all `.yaml` and `.yml` files, sorted by bytes.
    ///
    /// Names that begin with a dot are skipped: they are temporary names of files that are being written.
    ///
    /// - Throws: The system call's error if the directory can't be read.
    public static func paths(in directory: String) throws(SystemCallError) -> [String] {
        try DirectoryTree.names(in: directory)
            .filter { ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml")) && !$0.hasPrefix(".") }
            .map { "\(directory)/\($0)" }
    }
}
