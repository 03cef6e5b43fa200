import LinuxSystem

/// The manifest of a job that a user gives as a command line: `bgtask run -- COMMAND`.
public struct CommandManifest: Sendable {
    /// When the host makes requests by itself.
    public enum Timing: Equatable, Sendable {
        /// Repeatedly, after this time, such as `1d`.
        case every(String)
        /// At these dates, such as `02:30`.
        case at(String)
    }

    /// The name of the job: a letter, then letters, digits and `-`, at most 40 characters.
    public let name: String
    /// The program and its arguments.
    public let words: [String]
    /// The working directory, which the command may read.
    public let directory: String
    /// Further paths that the command may read.
    public var read: [String] = []
    /// Directories to which the command may write.
    public var write: [String] = []
    /// Whether the command may use the network.
    public var usesNetwork = false
    /// Whether each request requires external power.
    public var requiresExternalPower = false
    /// Whether each request requires a network connection.
    public var requiresNetwork = false
    /// Whether the command runs only while the user is idle.
    public var requiresIdle = false
    /// When the host makes requests by itself; `nil` if it makes none.
    public var timing: Timing?

    /// Makes the manifest of a command without further grants and conditions.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments. A program with a relative path becomes absolute.
    ///   - name: The name of the job; `nil` derives it from the program.
    ///   - directory: The absolute path of the working directory.
    /// - Throws: ``AuthoringError`` if the name is not valid, or if there is no program.
    public init(_ words: [String], name: String?, directory: String) throws(AuthoringError) {
        guard let program = words.first, !program.isEmpty else {
            throw AuthoringError(
                "the command", "it is empty", "Give it after --: bgtask run -- /usr/bin/rsync -a a b")
        }
        self.words = [Self.path(of: program, in: directory)] + words.dropFirst()
        self.directory = directory
        self.name = name ?? Self.name(of: program)
        let isName =
            self.name.utf8.count <= 40 && self.name.first.map { $0.isASCII && $0.isLetter } == true
            && self.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard isName else {
            throw AuthoringError(
                "the name '\(self.name)'",
                "it is not a letter, then letters, digits and -, at most 40 in all",
                "Give another one: --name NAME")
        }
    }

    /// The identifier of the bundle.
    public var bundle: String { "local.\(name)" }
    /// The identifier of the task.
    public var identifier: String { "local.\(name).run" }
    /// The name of the manifest's file.
    public var file: String { "run-\(name).yaml" }

    /// The manifest.
    public var text: String {
        var task = [
            "- identifier: \(identifier)",
            "  kind: processing",
        ]
        if !requiresIdle { task.append("  deviceActivity: ignore") }
        if requiresExternalPower { task.append("  requiresExternalPower: true") }
        if requiresNetwork { task.append("  network: any") }
        switch timing {
        case .every(let period): task.append("  schedule: {every: \(Self.quoted(period))}")
        case .at(let dates): task.append("  schedule: {at: \(Self.quoted(dates))}")
        case nil: break
        }
        task += [
            "  command:",
            "    run: [\(words.map(Self.quoted).joined(separator: ", "))]",
            "    directory: \(Self.quoted(directory))",
        ]
        let reads = [directory] + read.filter { $0 != directory }
        var grants = [
            "read: [\(reads.filter { !write.contains($0) }.map(Self.quoted).joined(separator: ", "))]"
        ]
        if !write.isEmpty { grants.append("write: [\(write.map(Self.quoted).joined(separator: ", "))]") }
        if usesNetwork { grants.append("network: true") }
        return """
            # Made by 'bgtask run'. To change the job, edit this file; to remove the job, remove the file.
            apiVersion: bgtask/v1
            bundle: \(bundle)
            modes: [processing]
            sandbox: {\(grants.filter { $0 != "read: []" }.joined(separator: ", "))}
            tasks:
            \(task.map { "  " + $0 }.joined(separator: "\n"))

            """
    }

    /// Writes the manifest into the manifests directory of the host.
    ///
    /// - Parameter directory: The path of that directory.
    /// - Returns: The path of the file.
    /// - Throws: ``AuthoringError`` if the file can't be written, or if another job has this name.
    public func write(to directory: String) throws(AuthoringError) -> String {
        let path = directory + "/" + file
        if let present = try? FileContents.read(path, limit: 65_536) {
            if present == Array(text.utf8) { return path }
            throw AuthoringError(
                path, "another job has the name '\(name)'; nothing was written",
                "Give another name with --name, or remove the file")
        }
        do {
            try FileContents.create(path, Array(text.utf8), mode: 0o644)
        } catch {
            throw AuthoringError(
                path, "\(error)", "Run the command as a user who may write to the host's manifests directory")
        }
        return path
    }

    /// A text in double quotation marks, as YAML reads it.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x85:
                let digits = String(scalar.value, radix: 16)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func path(of program: String, in directory: String) -> String {
        guard program.contains("/"), !program.hasPrefix("/"), !program.hasPrefix("~/") else { return program }
        var parts = directory.split(separator: "/").map(String.init)
        for part in program.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The name of a program without its directory and ending, in the characters of a job's name.
    private static func name(of program: String) -> String {
        let last = program.split(separator: "/").last ?? ""
        let base = last.split(separator: ".").first ?? last
        let name = String(base.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(40))
        return name.first?.isLetter == true ? name : String(("job-" + name).prefix(40))
    }
}
