internal import Configuration
import FoundationEssentials
import StrictFiles
import TaskModel

/// Reads `BGTASK_…` variables: `scheduling.refreshSpacing` is `BGTASK_SCHEDULING_REFRESH_SPACING`.
struct SettingsEnvironment {
    /// Variables of that prefix that are not ours to read: clients look for the socket there, and tasks get
    /// the other one, which shows private values in what apps log.
    private static let others: Set<String> = ["BGTASK_SOCKET", "BGTASK_LOG_PRIVATE"]

    /// Every variable of this process.
    static var ofProcess: [String: String] { ProcessInfo.processInfo.environment }

    /// The variable of a key.
    static func name(of key: SettingKey) -> String {
        let provider = EnvironmentVariablesProvider(environmentVariables: [:])
        return (try? provider.value(forKey: AbsoluteConfigKey(["bgtask"] + key.path), type: .string))?
            .encodedKey ?? ""
    }

    /// What the variables say, and what is wrong with them: bad values are errors, unknown names warnings.
    static func read(_ variables: [String: String]) -> (layer: SettingsLayer, problems: [ManifestProblem]) {
        let provider = EnvironmentVariablesProvider(environmentVariables: variables)
        var values: [SettingsLayer.Value] = []
        var problems: [ManifestProblem] = []
        var names: [String] = []
        for key in SettingTable.keys {
            guard
                let found = try? provider.value(
                    forKey: AbsoluteConfigKey(["bgtask"] + key.path), type: .string)
            else { continue }
            names.append(found.encodedKey)
            guard let value = found.value, case .string(let text) = value.content, !text.isEmpty else {
                continue
            }
            let source = "environment \(found.encodedKey)"
            let list = ProblemList(file: source, kind: .configuration)
            if let text = key.checked(text, mayRestrict: false, list) {
                values.append(.init(key: key, text: text, source: source))
            }
            // A variable has no lines.
            problems += list.sorted.map {
                ManifestProblem(severity: $0.severity, file: source, finding: $0.finding, remedy: $0.remedy)
            }
        }
        for name in variables.keys.sorted() where name.hasPrefix("BGTASK_") {
            if names.contains(name) || others.contains(name) { continue }
            let match = Nearest.match(name, in: names).map { "Did you mean '\($0)'?" }
            problems.append(
                ManifestProblem(
                    severity: .warning, file: "environment \(name)", finding: "no setting has this name",
                    remedy: match ?? "See 'bgtask config keys'"))
        }
        return (SettingsLayer("environment", values), problems)
    }
}

extension SettingKey {
    /// A text that stands in no file, checked like one that does; `nil` after saying what is wrong with it.
    func checked(_ text: String, mayRestrict: Bool, _ problems: ProblemList) -> String? {
        let node = YAMLNode(value: .scalar(text, isPlain: true), place: Place(line: 1, column: 1))
        return checked(node, mayRestrict: mayRestrict, problems)
    }

    /// A value of a file, checked.
    func checked(_ node: YAMLNode, mayRestrict: Bool, _ problems: ProblemList) -> String? {
        guard let text = kind.text(of: node, name, problems) else { return nil }
        if isRefreshSwitch, text == RefreshPermission.restricted.rawValue, !mayRestrict {
            problems.error(
                node.place,
                "\(name) is restricted, and only files of the vendor and the administrator may set that",
                "Say 'denied', or move it into bgtaskd.yaml or conf.d")
            return nil
        }
        return text
    }
}
