import LinuxSystem
public import TaskModel

/// A manifest that was made from an app's property list, with what its author should look at.
public struct ManifestDraft: Equatable, Sendable {
    /// One task of it.
    public struct Task: Equatable, Sendable {
        /// What it permits.
        public var pattern: IdentifierPattern
        /// Its kind.
        public var kind: TaskKind
        /// Where the kind comes from; begins with `guessed` if the app does not declare it.
        public var reason: String

        /// Whether the kind should be looked at.
        public var isGuessed: Bool { reason.hasPrefix("guessed") }
    }

    /// Whose manifest it is.
    public var bundle: BundleIdentifier
    /// The library's file name.
    public var library: String
    /// Whether the library's name is a guess.
    public var isLibraryGuessed: Bool
    /// What the bundle declares.
    public var modes: [BackgroundMode]
    /// In the property list's order.
    public var tasks: [Task]
    /// What was left out or added, and why: whole sentences.
    public var notes: [String]

    /// The YAML; `bgtask lint` finds nothing wrong with it.
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

    /// The text, quoted where YAML would take it for something else.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.first.map { $0.isASCII && $0.isLetter } ?? false
        let isWord = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        let isSafe = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-*+".contains($0)) }
        if isPlain, isSafe, !isWord { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension ManifestDraft {
    /// Writes the YAML into a new file.
    ///
    /// - Throws: ``AuthoringError`` if there is such a file, or it can't be written.
    public func write(to path: String) throws(AuthoringError) {
        do {
            try FileContents.create(path, Array(text.utf8), mode: 0o644)
        } catch {
            throw error.isExisting
                ? AuthoringError(path, "it already exists", "Give another name, or remove it")
                : AuthoringError(path, "\(error)", "Give a file in a directory that you may write")
        }
    }
}
