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
        let bytes: [UInt8]
        do {
            if isInstalled, let problem = try FileTrust.problem(with: path, called: "the manifest") {
                return (
                    nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)]
                )
            }
            bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
        } catch {
            return (nil, [ManifestProblem(file: path, finding: "\(error)", remedy: "Give a readable file")])
        }
        let (read, found) = ManifestReader.read(bytes, file: path)
        guard let read else { return (nil, found) }
        let problems = ProblemList(file: path, kind: .manifest)
        for (task, places) in zip(read.manifest.tasks, read.callPlaces) {
            if let call = task.call, let places { calls.check(call, places, problems) }
        }
        return (problems.hasErrors ? nil : read, found + problems.sorted)
    }
}
