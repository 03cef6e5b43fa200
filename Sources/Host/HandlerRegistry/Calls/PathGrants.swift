import LinuxSystem
import StrictFiles
import TaskModel

/// A path that a call uses and that contains values of the payload.
struct PayloadPath: Equatable {
    /// How the call uses the path.
    enum Access: Equatable {
        case read, write
        /// Unknown: the function that gets the path decides.
        case any
    }

    /// The text in the manifest, with its `${payload.KEY}`.
    let template: String
    /// The path, with the values of the payload.
    let path: String
    let access: Access

    /// Whether a grant must permit this text.
    ///
    /// A path that the call reads or writes itself always needs one. A string argument needs one if it can
    /// lead out of the task's directories: if it is absolute or contains `..`.
    var isPath: Bool {
        access != .any || path.hasPrefix("/") || path.split(separator: "/").contains("..")
    }
}

/// The paths that a request may use: the manifest's grants, with payload values filled in and links resolved.
///
/// The paths are checked before the task runs. If a link changes later, this check does not notice it.
struct PathGrants {
    private struct Grant {
        let template: String
        let walk: PathWalk
        let isWrite: Bool
        /// Whether the host makes the directory.
        var isCreated = false
        var realPath: String { walk.realPath }
    }

    private let subject: String
    private var grants: [Grant] = []
    /// The grants without the data directory.
    private(set) var resolved = ResolvedGrants()

    /// Fills the payload's values into the grants, and resolves links.
    ///
    /// - Throws: ``SubmissionError`` if the payload moves a grant out of the directory that the manifest
    ///   intended, or if a link that a task can change leads a grant elsewhere.
    init(
        _ sandbox: SandboxDeclaration, task: TaskDeclaration, payload: Payload, dataDirectory: String?
    ) throws(SubmissionError) {
        subject = payload.subject
        if let dataDirectory {
            let walk = try walk(dataDirectory)
            grants.append(Grant(template: "its data directory", walk: walk, isWrite: true))
        }
        let templates =
            sandbox.read.map { ($0, false, false) } + sandbox.write.map { ($0.path, true, $0.create) }
        for (template, isWrite, isCreated) in templates {
            let parts = PayloadText.parts(of: template) ?? []
            let keys = parts.compactMap { if case .key(let key) = $0 { String(key) } else { nil } }
            // The key belongs to another task of the manifest, so this grant does not apply to this task.
            guard keys.allSatisfy({ task.payload[$0] != nil }) else { continue }
            let path = try HomePath.expand(payload.fill(template), of: template, subject)
            let walk = try keys.isEmpty ? walk(path) : walk(path, asGrant: template, keys: keys, parts)
            let real = walk.realPath
            grants.append(Grant(template: template, walk: walk, isWrite: isWrite, isCreated: isCreated))
            if isWrite { resolved.files.write.append(real) } else { resolved.files.read.append(real) }
            if isCreated { resolved.created.append(real) }
            if !keys.isEmpty { resolved.files.dependOnPayload = true }
        }
        try checkLinks()
    }

    /// Refuses grants that a task could have led to another place, by a link in a directory that it can
    /// change, and directories that the host would make where another user's link leads.
    private func checkLinks() throws(SubmissionError) {
        let writes = grants.filter(\.isWrite)
        for grant in grants {
            for link in grant.walk.steps where link.kind == .link {
                if grant.isCreated, ![0, ProcessFacts.user].contains(link.owner) {
                    throw refusal(
                        "the host would make the directory of the grant '\(grant.template)' where the link "
                            + "\(link.path.shortened(to: 300)) of user \(link.owner) leads",
                        "Grant \(grant.realPath.shortened(to: 300)) by its own path")
                }
                let directory = link.path[..<(link.path.lastIndex(of: "/") ?? link.path.startIndex)]
                let open = writes.first {
                    PathWalk.isInside(String(directory), $0.realPath)
                        && !PathWalk.isInside(grant.realPath, $0.realPath)
                }
                guard let open else { continue }
                throw refusal(
                    "the grant '\(grant.template)' leads to \(grant.realPath.shortened(to: 300)) by the link "
                        + "\(link.path.shortened(to: 300)), which tasks can change: it is in the write grant "
                        + "'\(open.template)'",
                    "Remove the link, or grant the place to which it leads by its own path")
            }
        }
    }

    /// Checks that a path is inside a grant.
    ///
    /// - Throws: ``SubmissionError`` that names the path, the grants, and the grant to add.
    func check(_ used: PayloadPath) throws(SubmissionError) {
        let asked = "with this payload, '\(used.template)' is the path '\(used.path.shortened(to: 300))'"
        guard used.path.hasPrefix("/") else {
            throw refusal("\(asked), which is relative", "Submit an absolute path")
        }
        let real = try resolve(used.path)
        let usable = grants.filter { $0.isWrite || used.access != .write }
        if usable.contains(where: { PathWalk.isInside(real, $0.realPath) }) { return }
        let target = real == used.path ? "" : ", which is \(real.shortened(to: 300)) when links are followed"
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

    /// Resolves a grant that contains values of the payload.
    ///
    /// The result must stay inside the directory that the template names before its first `${`.
    private func walk(
        _ path: String, asGrant template: String, keys: [String], _ parts: [PayloadText.Part]
    ) throws(SubmissionError) -> PathWalk {
        let asked = "with this payload, the grant '\(template)' is the path '\(path.shortened(to: 300))'"
        let names = keys.map { "'\($0)'" }.joined(separator: " and ")
        guard path.hasPrefix("/") else {
            throw refusal("\(asked), which is relative", "Submit an absolute path as \(names)")
        }
        guard !path.split(separator: "/").contains("..") else {
            throw refusal("\(asked), which contains '..'", "Submit \(names) without '..'")
        }
        let walk = try walk(path)
        let real = walk.realPath
        guard case .plain(let before) = parts.first, let slash = before.lastIndex(of: "/") else {
            return walk
        }
        let base = try resolve(HomePath.expand(String(before[...slash]), of: template, subject))
        guard PathWalk.isInside(real, base) else {
            throw refusal(
                "\(asked), which is \(real.shortened(to: 300)) when links are followed, outside of \(base)",
                "Submit a path that stays inside as \(names)")
        }
        // The value is empty, "." or "/", so the grant would be the directory of all values.
        guard real != base else {
            throw refusal("\(asked), which is \(base) itself", "Submit a path below it as \(names)")
        }
        return walk
    }

    /// The entry that the manifest needs in `sandbox:` to permit a path.
    private static func missing(for used: PayloadPath) -> String {
        guard used.access == .write else { return "read: [\"\(used.template)\"]" }
        // A write grant names a directory, so suggest the path's directory.
        let slash = used.template.lastIndex(of: "/") ?? used.template.endIndex
        let directory = slash == used.template.startIndex ? "/" : String(used.template[..<slash])
        return "write: [\"\(directory)\"]"
    }

    // MARK: Paths

    private func resolve(_ path: String) throws(SubmissionError) -> String { try walk(path).realPath }

    private func walk(_ path: String) throws(SubmissionError) -> PathWalk {
        do {
            return try PathWalk(path)
        } catch {
            // The path may be one of the manifest, and not of the request.
            throw SubmissionError(
                code: error.isShortage ? .unavailable : .invalidRequest, subject: subject,
                finding: "'\(path.shortened(to: 300))' can't be followed: \(error)",
                remedy: error.isShortage
                    ? "Nothing is wrong with the path; the host needs more of what is short"
                    : "Correct the path, or let the host's user search its directories")
        }
    }

    private func refusal(_ finding: String, _ remedy: String) -> SubmissionError {
        SubmissionError(code: .invalidRequest, subject: subject, finding: finding, remedy: remedy)
    }
}
