/// The version of bgtask: one number for the host, the runner and the command line.
public enum ProductVersion {
    /// A semantic version; while it is below 1, the control API may change.
    public static let current = "0.1.0"
}
