/// The default directory of the definitions of custom conditions.
public enum ConditionsDirectory {
    /// `conditions.d` next to a directory of manifests: `/etc/bgtask/conditions.d` for
    /// `/etc/bgtask/manifests`.
    public static func beside(_ manifestsDirectory: String) -> String {
        let trimmed = manifestsDirectory.reversed().drop { $0 == "/" }.reversed()
        guard let slash = trimmed.lastIndex(of: "/") else { return "conditions.d" }
        return String(trimmed[...slash]) + "conditions.d"
    }
}
