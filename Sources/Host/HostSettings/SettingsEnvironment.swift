internal import Configuration
import FoundationEssentials
import StrictFiles
import TaskModel

/// Reads settings from environment variables.
///
/// For example, `BGTASK_SCHEDULING_REFRESH_SPACING` sets `scheduling.refreshSpacing`.
struct SettingsEnvironment {
    /// Variables that begin with `BGTASK_` but are not settings of the host.
    ///
    /// Clients find the control socket by `BGTASK_SOCKET`. Tasks read `BGTASK_LOG_PRIVATE`, which shows
    /// private values in the log messages of apps. `bgtask new` finds the SDK by `BGTASK_SDK`. The others are
    /// for the tests of this project, which start hosts.
    private static let others: Set<String> = [
        "BGTASK_SOCKET", "BGTASK_LOG_PRIVATE", "BGTASK_SDK", "BGTASK_TEST_TIMES", "BGTASK_THOROUGH",
        "BGTASK_KILLS", "BGTASK_KILL_POINTS", "BGTASK_TRANSFER_SIZE", "BGTASK_PUSH_FIGURES",
    ]

    /// All environment variables of this process.
    static var ofProcess: [String: String] { ProcessInfo.processInfo.environment }

    /// The name of the variable that sets a key.
    static func name(of key: SettingKey) -> String {
        let provider = EnvironmentVariablesProvider(environmentVariables: [:])
        return (try? provider.value(forKey: AbsoluteConfigKey(["bgtask"] + key.path), type: .string))?
            .encodedKey ?? ""
    }

    /// Reads all variables that begin with `BGTASK_`.
    ///
    /// An invalid value is an error, and an unknown name is a warning. An empty value counts as not set.
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
            // The line and the column are left out, because they have no meaning for a variable.
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
    /// Checks a value that comes from an environment variable, with the rules for files.
    ///
    /// Returns `nil` after adding a problem if the value is invalid.
    func checked(_ text: String, mayRestrict: Bool, _ problems: ProblemList) -> String? {
        let node = YAMLNode(value: .scalar(text, isPlain: true), place: Place(line: 1, column: 1))
        return checked(node, mayRestrict: mayRestrict, problems)
    }

    /// Checks a value in a file; returns `nil` after adding a problem if it is invalid.
    func checked(_ node: YAMLNode, mayRestrict: Bool, _ problems: ProblemList) -> String? {
        guard let text = kind.text(of: node, name, problems) else { return nil }
        if isRefreshSwitch, text == RefreshPermission.restricted.rawValue, !mayRestrict {
            problems.error(
                node.place,
                "\(name) is restricted, and only files of the vendor and the administrator may set that",
                "Use 'denied', or move it into bgtaskd.yaml or conf.d")
            return nil
        }
        return text
    }
}
