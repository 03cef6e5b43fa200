import LinuxSystem
public import TaskModel

/// A manifest that was made from an app's property list, with notes for its author.
public struct ManifestDraft: Equatable, Sendable {
    /// One task of the manifest.
    public struct Task: Equatable, Sendable {
        /// The identifier or wildcard that the task permits.
        public var pattern: IdentifierPattern
        /// The kind of the task.
        public var kind: TaskKind
        /// The source of the kind; begins with `guessed` if neither the property list nor the sources show
        /// it.
        public var reason: String

        /// Whether the author should check the kind.
        public var isGuessed: Bool { reason.hasPrefix("guessed") }
    }

    /// The identifier of the bundle.
    public var bundle: BundleIdentifier
    /// The library's file name.
    public var library: String
    /// Whether the library's name is a guess.
    public var isLibraryGuessed: Bool
    /// The modes that the manifest declares.
    public var modes: [BackgroundMode]
    /// The tasks, in the order of the property list.
    public var tasks: [Task]
    /// What was omitted or added, and why: one sentence each.
    public var notes: [String]

    /// The manifest as YAML; `bgtask lint` accepts it.
    public var text: String {
        var lines = ["# Made from an Info.plist by 'bgtask manifest from-plist'."]
        if isLibraryGuessed || tasks.contains(where: \.isGuessed) {
            lines[0] += " Check the lines marked as guessed."
        }
        lines += notes.map { "# \($0)" }
        lines.append("apiVersion: bgtask/v1")
        lines.append("bundle: \(Self.scalar(bundle.rawValue))")
        lines.append("library: \(Self.scalar(library))" + (isLibraryGuessed ? "  # guessed" : ""))
        if !modes.isEmpty { lines.append("modes: [\(modes.map(\.rawValue).joined(separator: ", "))]") }
        lines.append("tasks:")
        for task in tasks {
            lines.append("  - identifier: \(Self.scalar(task.pattern.description))")
            lines.append("    kind: \(task.kind.rawValue)  # \(task.reason)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text as a YAML scalar, with quotation marks if YAML would read it as another type.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.first.map { $0.isASCII && $0.isLetter } ?? false
        let isWord = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        let isSafe = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-*+".contains($0)) }
        if isPlain, isSafe, !isWord { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension ManifestDraft {
    /// Writes the YAML to a new file.
    ///
    /// - Throws: ``AuthoringError`` if the file exists already, or if it can't be written.
    public func write(to path: String) throws(AuthoringError) {
        do {
            try FileContents.create(path, Array(text.utf8), mode: 0o644)
        } catch {
            throw error.isExisting
                ? AuthoringError(path, "it already exists", "Give another name, or remove it")
                : AuthoringError(path, "\(error)", "Give a file in a directory that you may write to")
        }
    }
}
