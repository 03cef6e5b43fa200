import LinuxSystem
import Signatures
import StrictFiles
import TaskModel

/// Advice about files that can't be read.
enum FileAdvice {
    /// Why a file can't be read.
    ///
    /// - Parameters:
    ///   - error: What the attempt to read it threw.
    ///   - path: The path of the file.
    /// - Returns: A sentence without a full stop.
    static func finding(_ error: any Error, at path: String) -> String {
        FileContents.otherKind(at: path).map { "it is \($0), and not a regular file" } ?? "\(error)"
    }

    /// What to do about a file that can't be read.
    ///
    /// - Parameter isInstalled: Whether the host uses the file; otherwise, a user named it in a command.
    /// - Returns: The remedy, as a sentence.
    static func unreadable(isInstalled: Bool) -> String {
        isInstalled
            ? "Put a regular file there that the host's user can read, or remove it"
            : "Give the path of a file that you can read"
    }
}

/// Reads the file of one manifest, in the same way for the host and for lint.
enum ManifestFile {
    /// Reads a manifest and checks its calls against their libraries.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isInstalled: Whether the host uses the file, so that its owner and mode are checked, too.
    ///   - signatures: The signature that an installed file must have.
    ///   - calls: The check for the functions of calls.
    /// - Returns: The manifest, or `nil` if there are errors; and all problems, warnings included.
    static func read(
        _ path: String, isInstalled: Bool, signatures: SignatureRule = SignatureRule(),
        calls: inout CallLibraries
    ) -> (ReadManifest?, [ManifestProblem]) {
        var trust = FileTrust()
        let (read, found) = parse(path, trust: &trust, isInstalled: isInstalled, signatures: signatures)
        guard let read else { return (nil, found) }
        let problems = check(read, file: path, calls: &calls)
        return (problems.contains { $0.severity == .error } ? nil : read, found + problems)
    }

    /// Reads a manifest without checking its calls, so that the result depends only on this file and its
    /// path.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - trust: The directories that are already known to be trusted.
    ///   - isInstalled: See ``read(_:isInstalled:signatures:calls:)``.
    ///   - signatures: The signature that an installed file must have.
    /// - Returns: The manifest, or `nil` if there are errors; and all problems, warnings included.
    static func parse(
        _ path: String, trust: inout FileTrust, isInstalled: Bool = true, signatures: SignatureRule
    ) -> (ReadManifest?, [ManifestProblem]) {
        let bytes: [UInt8]
        do {
            if isInstalled, let problem = try trust.problem(with: path, called: "the manifest") {
                return (
                    nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)]
                )
            }
            bytes = try FileContents.read(path, limit: YAMLDocument.maximumSize)
            // Checked first, so that unsigned bytes can't exploit a fault of the parser.
            if isInstalled,
                let problem = signatures.problem(with: path, contents: bytes, called: "the manifest")
            {
                return (
                    nil, [ManifestProblem(file: path, finding: problem.finding, remedy: problem.remedy)]
                )
            }
        } catch {
            return (
                nil,
                [
                    ManifestProblem(
                        file: path, finding: FileAdvice.finding(error, at: path),
                        remedy: FileAdvice.unreadable(isInstalled: isInstalled))
                ]
            )
        }
        return ManifestReader.read(bytes, file: path)
    }

    /// Checks the calls of a manifest against their libraries, and its commands against their programs.
    ///
    /// Both can change when the manifest does not.
    static func check(
        _ read: ReadManifest, file path: String, calls: inout CallLibraries
    ) -> [ManifestProblem] {
        let problems = ProblemList(file: path, kind: .manifest)
        for (task, places) in zip(read.manifest.tasks, read.callPlaces) {
            if let call = task.call, let places { calls.check(call, places, problems) }
        }
        for (task, places) in zip(read.manifest.tasks, read.commandPlaces) {
            if let command = task.command, let places { CommandCheck.check(command, places, problems) }
        }
        return problems.sorted
    }
}
