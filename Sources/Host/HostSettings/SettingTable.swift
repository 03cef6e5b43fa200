import Scheduling
import StrictFiles
public import TaskModel

/// Every key that can be configured, in the order in which people read them.
///
/// What is not in this table can't be configured, and `Documentation/Configuration.md` is checked against it.
public enum SettingTable {
    /// All but the bundles' own.
    public static let keys: [SettingKey] = host + scheduling + weights

    /// A key by its name; `nil` if there is none.
    public static func key(named name: String) -> SettingKey? {
        if let key = keys.first(where: { $0.name == name }) { return key }
        guard name.hasPrefix("bundles."), name.hasSuffix(".refresh") else { return nil }
        let bundle = try? BundleIdentifier(
            String(name.dropFirst("bundles.".count).dropLast(".refresh".count)))
        return bundle.map(refresh)
    }

    /// The key of one bundle's switch.
    public static func refresh(of bundle: BundleIdentifier) -> SettingKey {
        SettingKey(
            path: ["bundles", bundle.rawValue, "refresh"],
            kind: .word(RefreshPermission.allCases.map(\.rawValue)),
            reason:
                "Whether the bundle may refresh, until its user says otherwise; only the administrator lifts restricted",
            needsRestart: false,
            text: { $0.scheduler.bundleRefresh[bundle]?.rawValue },
            set: { settings, text in
                settings.scheduler.bundleRefresh[bundle] = RefreshPermission(rawValue: text)
            })
    }

    private static let host: [SettingKey] = [
        .word(
            "refresh", \.scheduler.refresh,
            "Whether any bundle may refresh, process or take pushes; only the administrator lifts restricted"
        ),
        .word(
            "logLevel", \.logLevel, "Lines of this level and above are written to standard error",
            needsRestart: true),
        .word(
            "conditions", \.conditions,
            "simulated begins as a mains-powered, idle, cool machine, for tests and demonstrations",
            needsRestart: true),
        .word(
            "isolation", \.isolation,
            "What kills all that a launch has started; a weaker one than the machine offers only for tests",
            needsRestart: true),
        .path("paths.plugins", \.paths.plugins, "The handlers' libraries"),
        .path("paths.manifests", \.paths.manifests, "The manifests"),
        .path(
            "paths.conditions", \.paths.conditions,
            "The definitions of custom conditions; empty is conditions.d beside the manifests"),
        .path("paths.state", \.paths.state, "The store and the bundles' data; made if missing"),
        .path("paths.socket", \.paths.socket, "The control socket"),
        .path("paths.runner", \.paths.runner, "The runner program; empty finds it beside bgtaskd"),
        .integer(
            "history.launches", \.keptLaunches, 0...10_000_000,
            "Launches that are kept at least; some 10 MB of store. What is more goes when the host starts",
            needsRestart: true),
        .duration(
            "history.age", \.keptAge, .zero ... .seconds(3660 * 86_400),
            "Younger launches are kept besides: a month, to look back over",
            needsRestart: true),
        .duration(
            "templates.idleTime", \.templateIdleTime, .zero ... .seconds(7 * 86_400),
            "A plugin that was not launched for so long is unloaded; 5 min spare the next launch the loading",
            needsRestart: true),
        .bool(
            "recording.enabled", \.isRecording,
            "Whether the host records its scheduler's events, without payloads and for the host's own user alone: replays and forecasts need it",
            needsRestart: true),
        .size(
            "recording.size", \.recordingLimit, .mebibytes(1) ... .gibibytes(64),
            "The most that the recording takes on the disk; the oldest goes first", needsRestart: true),
    ]
}

/// A key as the documentation shows it.
public struct DocumentedKey: Sendable {
    /// The key.
    public let key: SettingKey
    /// Its standard value; empty where the host finds it out when it starts.
    public let standard: String
    /// Its environment variable.
    public let variable: String
}

extension SettingTable {
    /// Every key with its standard value.
    ///
    /// - Parameter paths: The standard places: those of this process, or of root's host as the documentation
    ///   has them.
    /// - Returns: The keys in the table's order.
    public static func documented(paths: HostPaths) -> [DocumentedKey] {
        let standard = EffectiveSettings(paths: paths)
        return keys.map {
            DocumentedKey(
                key: $0, standard: $0.text(standard) ?? "", variable: SettingsEnvironment.name(of: $0))
        }
    }

    /// The table of `Documentation/Configuration.md`.
    public static var markdown: String {
        let rows = documented(paths: .root).map {
            let restart = $0.key.needsRestart ? ", *restart*" : ""
            let standard = $0.standard.isEmpty ? "–" : "`\($0.standard)`"
            return "| `\($0.key.name)` | \(standard) | \($0.key.kind.summary)\(restart) | \($0.key.reason) |"
        }
        return (["| key | standard | may be | what, and why |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    /// Advice for an unknown key: the nearest known one.
    public static func advice(for name: String) -> String {
        Nearest.match(name, in: keys.map(\.name)).map { "Did you mean '\($0)'?" }
            ?? "See 'bgtask config keys'"
    }
}
