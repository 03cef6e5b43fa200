import LinuxSystem
import RequestStore
import TaskModel

/// The directories that a launch gets: its bundle's data, kept, and a temporary one, emptied after the launch.
///
/// They are numbered by the store, so that no identifier ever becomes a path.
struct BundleDirectories: Sendable {
    /// The host's state directory, absolute.
    let stateDirectory: String
    let store: any RequestStore

    /// The bundle's own directory, made on first use.
    ///
    /// - Throws: What the store or the file system said.
    func data(of bundle: BundleIdentifier) async throws -> String {
        let key = "directory of \(bundle)"
        if let number = try await store.setting(key) {
            let path = "\(stateDirectory)/data/\(number)"
            try DirectoryTree.make(path)
            return path
        }
        let next = (try await store.setting(Self.counterKey)).flatMap(Int.init) ?? 1
        // The counter first: a crash in between skips a number, and no two bundles share one.
        try await store.setSetting(Self.counterKey, String(next + 1))
        try await store.setSetting(key, String(next))
        let path = "\(stateDirectory)/data/\(next)"
        try DirectoryTree.make(path)
        return path
    }

    /// The bundle's own directory, if it has one already.
    ///
    /// - Throws: What the store said.
    func existingData(of bundle: BundleIdentifier) async throws(StoreError) -> String? {
        try await store.setting("directory of \(bundle)").map { "\(stateDirectory)/data/\($0)" }
    }

    /// Where the app directory of a bundle with this data directory is: under the same number.
    func apps(beside data: String) -> String {
        "\(stateDirectory)/apps/" + (data.split(separator: "/").last.map(String.init) ?? "0")
    }

    /// Removes the app directories of bundles that are not among these.
    ///
    /// - Throws: What the store or the file system said.
    func removeApps(except bundles: Set<BundleIdentifier>) async throws {
        let directory = "\(stateDirectory)/apps"
        guard DirectoryTree.isDirectory(directory) else { return }
        var kept: Set<String> = []
        for bundle in bundles {
            if let number = try await store.setting("directory of \(bundle)") { kept.insert(number) }
        }
        for name in try DirectoryTree.names(in: directory) where !kept.contains(name) {
            try DirectoryTree.remove("\(directory)/\(name)")
        }
    }

    /// A new, empty directory for one launch.
    ///
    /// - Throws: What the file system said.
    func makeTemporary(for launch: LaunchID) throws(SystemCallError) -> String {
        let path = temporary(of: launch)
        try DirectoryTree.remove(path)
        try DirectoryTree.make(path)
        return path
    }

    /// Removes a launch's temporary directory with all that it left in it.
    ///
    /// - Throws: What the file system said.
    func removeTemporary(of launch: LaunchID) throws(SystemCallError) {
        try DirectoryTree.remove(temporary(of: launch))
    }

    /// Removes every temporary directory that an earlier host left.
    ///
    /// - Throws: What the file system said.
    func sweepTemporary() throws(SystemCallError) {
        try DirectoryTree.remove("\(stateDirectory)/tmp")
    }

    private func temporary(of launch: LaunchID) -> String { "\(stateDirectory)/tmp/\(launch)" }

    private static let counterKey = "next bundle directory"
}
