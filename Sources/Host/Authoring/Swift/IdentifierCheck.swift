import HandlerRegistry
import StrictFiles
import TaskModel

/// Compares the identifiers in Swift sources with those that manifests declare.
struct IdentifierCheck {
    let declared: [DeclaredTask]
    let uses: [SourceUse]

    func problems() -> [ManifestProblem] {
        uses.compactMap(problem) + declared.compactMap(unregistered)
    }

    /// The problem with one use: its identifier is not permitted, or has another kind in the manifest.
    private func problem(with use: SourceUse) -> ManifestProblem? {
        let verb = use.role == .registration ? "registered" : "requested"
        let what: String
        switch use.name {
        case .whole(let text): what = text
        case .prefix(let text): what = text + "..."
        case .unknown(let text):
            guard use.role == .registration else { return nil }
            return ManifestProblem(
                severity: .warning, file: use.file, line: use.place.line, column: use.place.column,
                finding: "the identifier is \(text), whose value the source does not show; it was not checked"
            )
        }
        guard let declaration = declared.filter({ $0.permits(use.name) }).max(by: { $0.isLess($1) }) else {
            // The identifier may be permitted: only its prefix is known, and a declared identifier begins
            // with it.
            if case .prefix(let text) = use.name,
                declared.contains(where: { $0.task.pattern.base.rawValue.hasPrefix(text) })
            {
                return nil
            }
            let files = Set(declared.map(\.file)).sorted().joined(separator: ", ")
            return ManifestProblem(
                file: use.file, line: use.place.line, column: use.place.column,
                finding: "'\(what)' is \(verb) and not permitted by \(files)",
                remedy: use.role == .registration
                    ? "Add it to the manifest's tasks; otherwise, register returns false"
                    : "Add it to the manifest's tasks; otherwise, submit throws notPermitted")
        }
        guard let kind = use.kind, kind != declaration.task.kind else { return nil }
        return ManifestProblem(
            file: use.file, line: use.place.line, column: use.place.column,
            finding:
                "'\(what)' is \(verb) as \(kind.rawValue), and \(declaration.file):\(declaration.line) has kind \(declaration.task.kind.rawValue)",
            remedy: "Use the same kind in both")
    }

    /// The problem with a task that no source registers.
    ///
    /// It is an error only if the identifiers of all registrations are known, and otherwise a warning.
    private func unregistered(_ declared: DeclaredTask) -> ManifestProblem? {
        let isRegistered = [TaskKind.appRefresh, .processing, .continuedProcessing].contains(
            declared.task.kind)
        guard isRegistered, !declared.task.hasOwnProgram else { return nil }
        let registrations = uses.filter { $0.role == .registration }
        guard !registrations.contains(where: { declared.isNamed($0.name) }) else { return nil }
        let isSure = registrations.allSatisfy {
            if case .whole = $0.name { true } else { false }
        }
        return ManifestProblem(
            severity: isSure ? .error : .warning, file: declared.file, line: declared.line,
            column: declared.column,
            finding: "'\(declared.task.pattern)' is permitted, but no source registers a handler for it",
            remedy: "Register one while the app launches, or remove the task")
    }
}

extension DeclaredTask {
    fileprivate func permits(_ name: SourceUse.Name) -> Bool { name.isCovered(by: task.pattern) }

    /// Whether a registration is for this task; a wildcard also includes every identifier below it.
    fileprivate func isNamed(_ name: SourceUse.Name) -> Bool { permits(name) }

    /// Whether the other declaration takes precedence: exact before wildcard, then longer before shorter.
    fileprivate func isLess(_ other: Self) -> Bool {
        if task.pattern.isWildcard != other.task.pattern.isWildcard { return task.pattern.isWildcard }
        return task.pattern.base.rawValue.utf8.count < other.task.pattern.base.rawValue.utf8.count
    }
}
