import StrictFiles
public import TaskModel

/// What `bgtask lint` does: the host's own reading, without copying or running anything.
public enum ManifestLinter {
    /// Checks manifests, each by itself and all against each other.
    ///
    /// - Parameters:
    ///   - files: Paths of manifests.
    ///   - pluginsDirectory: Where `library:` must be; `nil` leaves that unchecked, and who may write the manifests,
    ///     and finds a call's libraries where the loader looks.
    /// - Returns: Everything that was found, by file, line and column; no error among it means that the host takes
    ///   them.
    public static func lint(files: [String], pluginsDirectory: String?) -> [ManifestProblem] {
        var calls = CallLibraries(pluginsDirectory: pluginsDirectory)
        var problems: [ManifestProblem] = []
        var entries: [ManifestConflicts.Entry] = []
        for file in files where !entries.contains(where: { $0.file == file }) {
            let (read, found) = ManifestFile.read(file, isInstalled: pluginsDirectory != nil, calls: &calls)
            problems += found
            guard let read else { continue }
            entries.append((file, read))
            guard let pluginsDirectory, let library = read.manifest.library else { continue }
            var libraries = PluginLibraries(pluginsDirectory: pluginsDirectory, cacheDirectory: "")
            do {
                try libraries.check(library)
            } catch {
                let place = read.libraryPlace
                problems.append(
                    ManifestProblem(
                        file: file, line: place?.line, column: place?.column, finding: error.finding,
                        remedy: error.remedy))
            }
        }
        problems += ManifestConflicts.find(in: entries).values.joined()
        return problems.sorted {
            ($0.file, $0.line ?? 0, $0.column ?? 0, $0.finding) < (
                $1.file, $1.line ?? 0, $1.column ?? 0, $1.finding
            )
        }
    }
}
