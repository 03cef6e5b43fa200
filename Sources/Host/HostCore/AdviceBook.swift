import TaskModel

/// The advice that the host has given about each plugin, so that it gives each piece once per library
/// version.
struct AdviceBook: Sendable {
    /// The maximum number of pieces of advice about one version of a library.
    static let limit = 100

    private(set) var entries: [BundleIdentifier: VersionAdvice] = [:]

    /// Restores an entry from the store.
    mutating func restore(_ entry: VersionAdvice, of bundle: BundleIdentifier) { entries[bundle] = entry }

    /// Adds a piece of advice.
    ///
    /// - Returns: Whether the piece was added. It is not added if the version already has a piece with the
    ///   same code and message, or has ``limit`` pieces.
    mutating func add(_ piece: PluginAdvice, of bundle: BundleIdentifier, libraryHash: String) -> Bool {
        var entry = entries[bundle] ?? VersionAdvice(libraryHash: libraryHash, advice: [])
        if entry.libraryHash != libraryHash { entry = VersionAdvice(libraryHash: libraryHash, advice: []) }
        let isKnown = entry.advice.contains { $0.code == piece.code && $0.message == piece.message }
        guard !isKnown, entry.advice.count < Self.limit else { return false }
        entry.advice.append(piece)
        entries[bundle] = entry
        return true
    }

    /// Removes the advice about library versions that were replaced.
    ///
    /// The advice of a bundle that is not installed stays, because the same version may be installed again.
    ///
    /// - Returns: The bundles whose advice was removed.
    mutating func forget(besides installed: [BundleIdentifier: String?]) -> [BundleIdentifier] {
        let gone = entries.keys.filter { bundle in
            installed[bundle].map { $0 != entries[bundle]?.libraryHash } ?? false
        }.sorted { $0.rawValue < $1.rawValue }
        for bundle in gone { entries[bundle] = nil }
        return gone
    }
}
