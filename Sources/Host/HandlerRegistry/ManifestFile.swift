import LinuxSystem
import StrictFiles
import TaskModel

/// One manifest's file, read in the same way by the host and by lint.
enum ManifestFile {
    /// Reads a manifest and checks its calls against their libraries.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isInstalled: Whether the host would find it there, so that its owner and mode matter.
    ///   - calls: Where functions are looked up.
    /// - Returns: `nil` if there are errors; and everything that was found, warnings included.
    static func read(
        _ path: String, isInstalled: Bool, calls: inout CallLibraries
    ) -> (ReadManifest?, [ManifestProblem]) {
        var trust = FileTrust()
        let (read, found) = parse(path, trust: &trust, isInstalled: isInstalled)
        guard let read else { return (nil, found) }
        let problems = check(read, file: path, calls: &calls)
        return (problems.contains { $0.severity == .error } ? nil : read, found + problems)
    }

    /// Reads a manifest by itself: what comes out depends on nothing but the file and the way to it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - trust: What is known of directories.
    ///   - isInstalled: As for ``read(_:isInstalled:calls:)``.
    /// - Returns: `nil` if there are errors; and everything that was found, warnings included.
    static func parse(
        _ path: String, trust: inout FileTrust, isInstalled: Bool = true
    ) -> (ReadManifest?, [ManifestProblem]) {
        let bytes: [UInt8]
        do {
            if isInstalled, let problem = try trust.problem(with: path, called: "the manifest") {
                return (
                    nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)]
                )
            }
            bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
        } catch {
            return (nil, [ManifestProblem(file: path, finding: "\(error)", remedy: "Give a readable file")])
        }
        return ManifestReader.read(bytes, file: path)
    }

    /// Checks a manifest's calls against their libraries, which change without the manifest.
    static func check(
        _ read: ReadManifest, file path: String, calls: inout CallLibraries
    ) -> [ManifestProblem] {
        let problems = ProblemList(file: path, kind: .manifest)
        for (task, places) in zip(read.manifest.tasks, read.callPlaces) {
            if let call = task.call, let places { calls.check(call, places, problems) }
        }
        return problems.sorted
    }
}
