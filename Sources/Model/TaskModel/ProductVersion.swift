/// The version of bgtask: one number for the host, the runner and the command line.
public enum ProductVersion {
    /// Semantic; below 1 the control API may still change.
    public static let current = "0.1.0"
}
