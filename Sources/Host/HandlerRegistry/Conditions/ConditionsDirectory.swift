/// The default directory of the definitions of custom conditions.
public enum ConditionsDirectory {
    /// The directory `conditions.d` beside the directory of manifests.
    ///
    /// For `/etc/bgtask/manifests`, it is `/etc/bgtask/conditions.d`.
    public static func beside(_ manifestsDirectory: String) -> String {
        let trimmed = manifestsDirectory.reversed().drop { $0 == "/" }.reversed()
        guard let slash = trimmed.lastIndex(of: "/") else { return "conditions.d" }
        return String(trimmed[...slash]) + "conditions.d"
    }
}
