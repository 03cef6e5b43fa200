import TaskModel

/// The advice that was given about each version of a plugin, so that each is given once.
struct AdviceBook: Sendable {
    /// The greatest number of pieces of advice about one version.
    static let limit = 100

    private(set) var entries: [BundleIdentifier: VersionAdvice] = [:]

    /// Takes what an earlier run of the host stored.
    mutating func restore(_ entry: VersionAdvice, of bundle: BundleIdentifier) { entries[bundle] = entry }

    /// Enters a piece of advice.
    ///
    /// - Returns: Whether it is news: not the same code and message of the same version again, nor one too
    ///   many.
    mutating func add(_ piece: PluginAdvice, of bundle: BundleIdentifier, libraryHash: String) -> Bool {
        var entry = entries[bundle] ?? VersionAdvice(libraryHash: libraryHash, advice: [])
        if entry.libraryHash != libraryHash { entry = VersionAdvice(libraryHash: libraryHash, advice: []) }
        let isKnown = entry.advice.contains { $0.code == piece.code && $0.message == piece.message }
        guard !isKnown, entry.advice.count < Self.limit else { return false }
        entry.advice.append(piece)
        entries[bundle] = entry
        return true
    }

    /// Forgets the advice about versions that are no longer installed; a bundle that is not installed may
    /// come back.
    ///
    /// - Returns: The bundles that were forgotten.
    mutating func forget(besides installed: [BundleIdentifier: String?]) -> [BundleIdentifier] {
        let gone = entries.keys.filter { bundle in
            installed[bundle].map { $0 != entries[bundle]?.libraryHash } ?? false
        }.sorted { $0.rawValue < $1.rawValue }
        for bundle in gone { entries[bundle] = nil }
        return gone
    }
}
