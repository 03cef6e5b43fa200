import LinuxSystem
import TaskModel

/// The manifest of a job that is a command: from `bgtask run -- COMMAND`, or from another scheduler.
public struct CommandManifest: Sendable {
    /// What the job runs.
    public enum Action: Equatable, Sendable {
        /// A program and its arguments.
        case run([String])
        /// Lines for `/bin/sh -e`.
        case script(String)
    }

    /// When the host makes requests by itself: the keys of `schedule:`, as the manifest has them.
    public struct Timing: Equatable, Sendable {
        /// The period, such as `1d`.
        public var every: String?
        /// The dates, such as `02:30`.
        public var at: String?
        /// The time zone of the dates; `nil` for that of the machine.
        public var timeZone: String?
        /// Whether a request is made when the host starts after the machine did.
        public var onBoot = false
        /// How long after its date a launch may begin; `nil` for the default.
        public var tolerance: Duration?
        /// The time over which the devices of a fleet spread their dates.
        public var jitter: Duration?
        /// Whether the dates wake the machine.
        public var wake = false

        public init(every: String? = nil, at: String? = nil, onBoot: Bool = false) {
            (self.every, self.at, self.onBoot) = (every, at, onBoot)
        }

        /// The value of `schedule:`.
        var text: String {
            var keys: [String] = []
            if let every { keys.append("every: \(CommandManifest.quoted(every))") }
            if let at { keys.append("at: \(CommandManifest.quoted(at))") }
            if let timeZone { keys.append("timeZone: \(CommandManifest.quoted(timeZone))") }
            if onBoot { keys.append("onBoot: true") }
            if let tolerance { keys.append("tolerance: \(DurationText.format(tolerance))") }
            if let jitter { keys.append("jitter: \(DurationText.format(jitter))") }
            if wake { keys.append("wake: true") }
            return "{\(keys.joined(separator: ", "))}"
        }
    }

    /// The name of the job: a letter, then letters, digits and `-`, at most 40 characters.
    public let name: String
    /// What the job runs.
    public let action: Action
    /// The first lines of the file, without `#`: where the job comes from.
    public var origin = ["Made by 'bgtask run'."]
    /// The working directory, which the command may read; `nil` for the bundle's data directory.
    public var directory: String?
    /// Variables of the command's environment.
    public var environment: [String: String] = [:]
    /// The exit statuses that mean success; empty for the default, 0 alone.
    public var success: [Int] = []
    /// The signal that asks the command to stop, such as `INT`; `nil` for the default, `TERM`.
    public var stopSignal: String?
    /// The longest run time; `nil` for the default.
    public var runtime: Duration?
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
    /// When the host makes requests by itself.
    ///
    /// Each timing has a task of its own. Without a timing, the host makes no requests.
    public var timings: [Timing] = []

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
        action = .run([Self.path(of: program, in: directory)] + words.dropFirst())
        self.directory = directory
        self.name = name ?? Self.name(of: program)
        let isName =
            self.name.utf8.count <= 40 && self.name.first.map { $0.isASCII && $0.isLetter } == true
            && self.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard isName else {
            throw AuthoringError(
                "the name '\(self.name)'",
                "it must begin with a letter, have only letters, digits and -, and be at most 40 characters long",
                "Give another one: --name NAME")
        }
    }

    /// Makes the manifest of a job of another scheduler.
    ///
    /// - Parameters:
    ///   - action: What it runs.
    ///   - name: A text from which the name is derived, such as the path of the program.
    init(_ action: Action, named name: String) {
        self.action = action
        self.name = Self.name(of: name)
    }

    /// The identifier of the bundle.
    public var bundle: String { "local.\(name)" }
    /// The identifier of the task, or of the first one if there are several timings.
    public var identifier: String { "local.\(name).run" }
    /// The name of the manifest's file.
    public var file: String { "run-\(name).yaml" }

    /// The manifest.
    public var text: String {
        let tasks =
            timings.isEmpty
            ? task(identifier, nil, at: 0)
            : timings.enumerated().flatMap { index, timing in
                task(name(ofTask: index), timing, at: index)
            }
        let reads = (directory.map { [$0] } ?? []) + read.filter { $0 != directory }
        var grants = [
            "read: [\(reads.filter { !write.contains($0) }.map(Self.quoted).joined(separator: ", "))]"
        ]
        if !write.isEmpty { grants.append("write: [\(write.map(Self.quoted).joined(separator: ", "))]") }
        if usesNetwork { grants.append("network: true") }
        grants.removeAll { $0 == "read: []" }
        return """
            \(origin.map { "# " + Self.onOneLine($0) }.joined(separator: "\n"))
            # To change the job, edit this file; to remove the job, remove the file.
            apiVersion: bgtask/v1
            bundle: \(bundle)
            modes: [processing]
            sandbox: {\(grants.joined(separator: ", "))}
            tasks:
            \(tasks.map { "  " + $0 }.joined(separator: "\n"))

            """
    }

    private func name(ofTask index: Int) -> String {
        index == 0 ? identifier : "\(identifier)-\(index + 1)"
    }

    /// The lines of one task.
    private func task(_ identifier: String, _ timing: Timing?, at index: Int) -> [String] {
        var task = [
            "- identifier: \(identifier)",
            "  kind: processing",
        ]
        if !requiresIdle { task.append("  deviceActivity: ignore") }
        if requiresExternalPower { task.append("  requiresExternalPower: true") }
        if requiresNetwork { task.append("  network: any") }
        if let timing { task.append("  schedule: \(timing.text)") }
        // It is one job, and never runs beside itself.
        let others = timings.indices.filter { $0 != index }.prefix(32).map(name(ofTask:))
        if !others.isEmpty { task.append("  conflicts: [\(others.joined(separator: ", "))]") }
        if let runtime { task.append("  limits: {runtime: \(DurationText.format(runtime))}") }
        return task + ["  command:"] + commandLines.map { "    " + $0 }
    }

    /// What runs, and its variables, without `${` where the host would look for a value of the payload: such
    /// words and variables become a part of the script, which a shell reads as they are.
    private var literal: (action: Action, environment: [String: String]) {
        let exports = environment.filter { $0.value.contains("${") }.sorted { $0.key < $1.key }
            .map { "export \($0.key)=\(Self.shellQuoted($0.value))" }
        let rest = environment.filter { !$0.value.contains("${") }
        switch action {
        case .run(let words) where exports.isEmpty && !words.contains { $0.contains("${") }:
            return (action, rest)
        case .run(let words):
            let command = "exec " + words.map(Self.shellQuoted).joined(separator: " ")
            return (.script((exports + [command]).joined(separator: "\n")), rest)
        case .script(let script):
            return (.script((exports + [script]).joined(separator: "\n")), rest)
        }
    }

    /// A word in single quotation marks, as a shell reads it.
    private static func shellQuoted(_ word: String) -> String {
        "'" + word.replacing("'", with: #"'\''"#) + "'"
    }

    /// The lines below `command:`.
    private var commandLines: [String] {
        var lines: [String] = []
        let (action, environment) = literal
        switch action {
        case .run(let words): lines.append("run: [\(words.map(Self.quoted).joined(separator: ", "))]")
        case .script(let script) where Self.isPlain(script):
            lines.append("script: |")
            lines += script.split(separator: "\n", omittingEmptySubsequences: false).map {
                $0.isEmpty ? "" : "  " + $0
            }
        case .script(let script): lines.append("script: \(Self.quoted(script))")
        }
        if let directory { lines.append("directory: \(Self.quoted(directory))") }
        if !environment.isEmpty {
            lines.append("environment:")
            lines += environment.sorted { $0.key < $1.key }.map { "  \($0.key): \(Self.quoted($0.value))" }
        }
        if !success.isEmpty {
            lines.append("success: [\(success.map(String.init).joined(separator: ", "))]")
        }
        if let stopSignal { lines.append("stop: \(stopSignal)") }
        return lines
    }

    /// Whether a script can be a literal block of YAML, which keeps its characters as they are.
    private static func isPlain(_ script: String) -> Bool {
        script.first != " " && script.last != "\n"
            && script.unicodeScalars.allSatisfy {
                $0 == "\n" || $0 == "\t" || ($0.value >= 0x20 && $0.value < 0x7F) || $0.value > 0x2FFF
                    || (0xA0..<0x2000).contains($0.value)
            }
    }

    /// A text as a part of one line of a comment: without control characters and line breaks, and with at
    /// most 200 characters.
    private static func onOneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Character in
            let isBreak = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            return isBreak || scalar == "\u{2028}" || scalar == "\u{2029}" || scalar == "\u{FEFF}"
                ? " " : Character(scalar)
        }
        return scalars.count > 200 ? String(scalars.prefix(199)) + "…" : String(scalars)
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
                path, "another job has the name '\(name)'",
                "If it is an older version of this job, remove the file; otherwise, give another name with --name"
            )
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
