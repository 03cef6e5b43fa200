import LinuxSystem
import StrictFiles
import TaskModel

/// A text of a call that the payload has a part in, and that is a path.
struct PayloadPath: Equatable {
    /// What is done with it.
    enum Access: Equatable {
        case read, write
        /// The library's function decides.
        case any
    }

    /// As the manifest has it.
    let template: String
    /// With the payload's values.
    let path: String
    let access: Access

    /// Whether it must be granted: what a call maps or saves always; another text if it looks like a path
    /// that could lead out of the task's own directories, being absolute or having `..` in it.
    var isPath: Bool {
        access != .any || path.hasPrefix("/") || path.split(separator: "/").contains("..")
    }
}

/// The grants of one request: a manifest's, with the payload filled in and links followed.
///
/// What is decided here is decided by name, before anything runs; a link that is bent afterwards is the
/// sandbox's to stop, which knows files and not names.
struct PathGrants {
    private struct Grant {
        let template: String
        let realPath: String
        let isWrite: Bool
    }

    private let subject: String
    private var grants: [Grant] = []

    /// Fills the grants in that the task's payload can fill.
    ///
    /// - Throws: A ``SubmissionError`` where the payload makes of a grant what the manifest did not mean.
    init(
        _ sandbox: SandboxDeclaration, task: TaskDeclaration, payload: Payload, dataDirectory: String?
    ) throws(SubmissionError) {
        subject = payload.subject
        if let dataDirectory {
            let real = try resolve(dataDirectory)
            grants.append(Grant(template: "its data directory", realPath: real, isWrite: true))
        }
        let templates = sandbox.read.map { ($0, false) } + sandbox.write.map { ($0.path, true) }
        for (template, isWrite) in templates {
            let parts = PayloadText.parts(of: template) ?? []
            let keys = parts.compactMap { if case .key(let key) = $0 { String(key) } else { nil } }
            // Another task of the manifest brings this key, and this one has nothing of the grant.
            guard keys.allSatisfy({ task.payload[$0] != nil }) else { continue }
            let path = try Self.expandHome(payload.fill(template), of: template, subject)
            let real =
                keys.isEmpty ? try resolve(path) : try resolve(path, asGrant: template, keys: keys, parts)
            grants.append(Grant(template: template, realPath: real, isWrite: isWrite))
        }
    }

    /// Checks that a path is inside a grant.
    ///
    /// - Throws: A ``SubmissionError`` that names the path, the grants, and the one to add.
    func check(_ used: PayloadPath) throws(SubmissionError) {
        let asked = "the payload makes '\(used.template)' the path '\(used.path.shortened(to: 300))'"
        guard used.path.hasPrefix("/") else {
            throw refusal("\(asked), which is relative", "Submit an absolute path")
        }
        let real = try resolve(used.path)
        let usable = grants.filter { $0.isWrite || used.access != .write }
        if usable.contains(where: { PathWalk.isInside(real, $0.realPath) }) { return }
        let target = real == used.path ? "" : ", which is \(real.shortened(to: 300))"
        let list = usable.map {
            $0.template == $0.realPath ? $0.realPath : "\($0.template) (\($0.realPath))"
        }
        let what = used.access == .write ? "write grant" : "grant"
        let granted = list.isEmpty ? "; the manifest has none" : ": \(list.joined(separator: ", "))"
        throw refusal(
            "\(asked)\(target), outside every \(what) of the manifest\(granted)",
            "Submit a path inside a grant, or add to the manifest: sandbox: {\(Self.missing(for: used))}")
    }

    // MARK: Grants

    /// Resolves a grant that names the payload.
    ///
    /// The result must stay below the text before its first key.
    private func resolve(
        _ path: String, asGrant template: String, keys: [String], _ parts: [PayloadText.Part]
    ) throws(SubmissionError) -> String {
        let asked = "the payload makes the grant '\(template)' the path '\(path.shortened(to: 300))'"
        let names = keys.map { "'\($0)'" }.joined(separator: " and ")
        guard path.hasPrefix("/") else {
            throw refusal("\(asked), which is relative", "Submit an absolute path as \(names)")
        }
        guard !path.split(separator: "/").contains("..") else {
            throw refusal("\(asked), which contains '..'", "Submit \(names) without '..'")
        }
        let real = try resolve(path)
        guard case .plain(let before) = parts.first, let slash = before.lastIndex(of: "/") else {
            return real
        }
        let base = try resolve(Self.expandHome(String(before[...slash]), of: template, subject))
        guard PathWalk.isInside(real, base) else {
            throw refusal(
                "\(asked), which is \(real.shortened(to: 300)), outside of \(base)",
                "Submit a path that stays inside as \(names)")
        }
        return real
    }

    /// The entry to add to `sandbox:` for a path.
    private static func missing(for used: PayloadPath) -> String {
        guard used.access == .write else { return "read: [\"\(used.template)\"]" }
        // A write grant is a directory.
        let slash = used.template.lastIndex(of: "/") ?? used.template.endIndex
        let directory = slash == used.template.startIndex ? "/" : String(used.template[..<slash])
        return "write: [\"\(directory)\"]"
    }

    // MARK: Paths

    private func resolve(_ path: String) throws(SubmissionError) -> String {
        do {
            return try PathWalk(path).realPath
        } catch {
            throw refusal("'\(path.shortened(to: 300))' can't be followed: \(error)", "Submit another path")
        }
    }

    private static func expandHome(
        _ path: String, of template: String, _ subject: String
    ) throws(SubmissionError) -> String {
        guard template == "~" || template.hasPrefix("~/") else { return path }
        guard let home = ProcessFacts.environment("HOME"), home.hasPrefix("/") else {
            throw SubmissionError(
                code: .invalidRequest, subject: subject,
                finding: "the manifest grants '\(template)', but the host has no home directory",
                remedy: "Start the host with HOME set, or write the full path")
        }
        return home + path.dropFirst()
    }

    private func refusal(_ finding: String, _ remedy: String) -> SubmissionError {
        SubmissionError(code: .invalidRequest, subject: subject, finding: finding, remedy: remedy)
    }
}
