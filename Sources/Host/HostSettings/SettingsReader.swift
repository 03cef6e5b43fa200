import StrictFiles
import TaskModel

/// Reads the values of a YAML document by the keys of ``SettingTable``.
struct SettingsReader {
    let mayRestrict: Bool
    let problems: ProblemList

    /// Returns the valid values of a document, and adds its problems to ``problems``.
    func entries(_ root: YAMLNode) -> [SettingsFile.Entry] {
        var entries: [SettingsFile.Entry] = []
        read(root, at: [], &entries)
        return entries
    }

    private func read(_ node: YAMLNode, at path: [String], _ entries: inout [SettingsFile.Entry]) {
        // If all lines of a section are comments, its value is null.
        if node.isNull { return }
        let what = path.isEmpty ? "the configuration" : path.joined(separator: ".")
        guard let fields = Fields(node, what, keys: Self.children(of: path), problems) else { return }
        for (name, _, value) in fields.all {
            let inner = path + [name]
            // 'isolation' has a value of its own, and is also the section of 'isolation.require'.
            if let key = SettingTable.keys.first(where: { $0.path == inner }), !isSection(value, inner) {
                read(value, of: key, &entries)
            } else if inner == ["bundles"] {
                bundles(value, &entries)
            } else {
                read(value, at: inner, &entries)
            }
        }
    }

    private func isSection(_ node: YAMLNode, _ path: [String]) -> Bool {
        guard case .mapping = node.value else { return false }
        return !Self.children(of: path).isEmpty
    }

    private func read(_ value: YAMLNode, of key: SettingKey, _ entries: inout [SettingsFile.Entry]) {
        guard let text = key.checked(value, mayRestrict: mayRestrict, problems) else { return }
        entries.append(.init(key: key, text: text, place: value.place))
    }

    private func bundles(_ node: YAMLNode, _ entries: inout [SettingsFile.Entry]) {
        if node.isNull { return }
        guard let fields = Fields(node, "bundles", keys: nil, problems) else { return }
        for (name, place, value) in fields.all {
            let bundle: BundleIdentifier
            do {
                bundle = try BundleIdentifier(name)
            } catch {
                problems.error(
                    place, "bundle '\(name.shortened)': \(error.finding)", "Use A-Z a-z 0-9 . _ -")
                continue
            }
            let names = SettingTable.ofBundles.map(\.name)
            guard let fields = Fields(value, "bundles.\(name)", keys: names, problems) else { continue }
            for (name, key) in SettingTable.ofBundles {
                if let value = fields[name] { read(value, of: key(bundle), &entries) }
            }
        }
    }

    /// The keys that a mapping at this path may have.
    private static func children(of path: [String]) -> [String] {
        var names: [String] = path.isEmpty ? ["bundles"] : []
        for key in SettingTable.keys where key.path.count > path.count && key.path.starts(with: path) {
            if !names.contains(key.path[path.count]) { names.append(key.path[path.count]) }
        }
        return names
    }
}
