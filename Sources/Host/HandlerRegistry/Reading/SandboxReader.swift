import StrictFiles
import TaskModel

/// Reads `sandbox:`.
struct SandboxReader {
    /// The payload keys that any task of the manifest declares, with their types.
    let payload: [String: PayloadType]
    let problems: ProblemList

    func sandbox(_ node: YAMLNode?) -> SandboxDeclaration {
        var sandbox = SandboxDeclaration()
        guard let node,
            let fields = Fields(
                node, "sandbox", keys: ["network", "read", "write", "subprocesses", "gpu"], problems)
        else { return sandbox }
        sandbox.network = fields["network"]?.bool("network", problems)
        sandbox.subprocesses = fields["subprocesses"]?.bool("subprocesses", problems) ?? false
        sandbox.gpu = fields["gpu"]?.bool("gpu", problems)
        sandbox.read = (fields["read"]?.items("read", problems) ?? []).compactMap {
            path($0, "a path of read")
        }
        sandbox.write = (fields["write"]?.items("write", problems) ?? []).compactMap(grant)
        return sandbox
    }

    private func grant(_ node: YAMLNode) -> WriteGrant? {
        guard case .mapping = node.value else {
            return path(node, "a path of write").map { WriteGrant(path: $0, create: false) }
        }
        guard let fields = Fields(node, "a grant of write", keys: ["path", "create"], problems) else {
            return nil
        }
        let path = fields.required("path", "a grant of write", problems).flatMap { self.path($0, "path") }
        let create = fields["create"]?.bool("create", problems) ?? false
        return path.map { WriteGrant(path: $0, create: create) }
    }

    private func path(_ node: YAMLNode, _ what: String) -> String? {
        guard let path = node.text(what, problems) else { return nil }
        let isRooted =
            path.hasPrefix("/") || path == "~" || path.hasPrefix("~/") || path.hasPrefix("${payload.")
        guard isRooted, !path.split(separator: "/").contains("..") else {
            problems.error(
                node.place, "\(what) must be absolute and without '..', found '\(path.shortened)'",
                "Begin it with '/', '~/' or '${payload.KEY}', and do not use '..'")
            return nil
        }
        PayloadText.check(path, in: payload, allowing: [.string], at: node.place, problems)
        return path
    }
}
