/// The version of bgtask: one number for the host, the runner and the command line.
public enum ProductVersion {
    /// A semantic version of the product; the control API has a version of its own.
    public static let current = "0.1.0"
}
