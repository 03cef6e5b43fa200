import Scheduling
import StrictFiles
public import TaskModel

/// The table of all configuration keys, in the order of the documentation.
///
/// A test checks `Documentation/Configuration.md` against this table.
public enum SettingTable {
    /// All keys, without the `bundles` keys, because their names contain bundle identifiers.
    public static let keys: [SettingKey] = host + pushes + scheduling + weights + scores

    /// Finds a key by its whole name, those of bundles included; `nil` if there is no such key.
    public static func key(named name: String) -> SettingKey? {
        if let key = keys.first(where: { $0.name == name }) { return key }
        for (word, key) in ofBundles where name.hasPrefix("bundles.") && name.hasSuffix("." + word) {
            let bundle = name.dropFirst("bundles.".count).dropLast(word.utf8.count + 1)
            if let bundle = try? BundleIdentifier(String(bundle)) { return key(bundle) }
        }
        return nil
    }

    /// The keys that each bundle can have, with the last part of their names.
    static let ofBundles: [(name: String, key: @Sendable (BundleIdentifier) -> SettingKey)] = [
        ("refresh", { refresh(of: $0) }), ("weight", { weight(of: $0) }), ("submit", { submitters(of: $0) }),
    ]

    /// The key of one bundle's weight in the order for free slots.
    public static func weight(of bundle: BundleIdentifier) -> SettingKey {
        SettingKey(
            path: ["bundles", bundle.rawValue, "weight"], kind: .decimal(0.01...100),
            reason:
                "The weight of the bundle when others wait for the same slots. A bundle of weight 2 gets them as if it had used half as much. Others have the weight 1",
            needsRestart: false,
            text: { $0.scheduler.bundleWeights[bundle].map { SettingKind.text(of: $0) } },
            set: { settings, text in settings.scheduler.bundleWeights[bundle] = Double(text) })
    }

    /// The key of the group that may submit requests of one bundle.
    public static func submitters(of bundle: BundleIdentifier) -> SettingKey {
        SettingKey(
            path: ["bundles", bundle.rawValue, "submit"], kind: .group,
            reason: "The group of users who may submit requests of this bundle", needsRestart: true,
            text: { $0.bundleSubmitters[bundle] },
            set: { settings, text in settings.bundleSubmitters[bundle] = text })
    }

    /// The key of one bundle's switch for background refresh.
    public static func refresh(of bundle: BundleIdentifier) -> SettingKey {
        SettingKey(
            path: ["bundles", bundle.rawValue, "refresh"],
            kind: .word(RefreshPermission.allCases.map(\.rawValue)),
            reason:
                "Background refresh of the bundle, until the user changes it. 'bgtask settings' can't change 'restricted'; only the configuration can",
            needsRestart: false,
            text: { $0.scheduler.bundleRefresh[bundle]?.rawValue },
            set: { settings, text in
                settings.scheduler.bundleRefresh[bundle] = RefreshPermission(rawValue: text)
            })
    }

    private static let host: [SettingKey] = [
        .word(
            "refresh", \.scheduler.refresh,
            "Background refresh, processing and pushes of all bundles. 'bgtask settings' can't change 'restricted'; only the configuration can"
        ),
        .word(
            "logLevel", \.logLevel, "The host writes lines of this level and above to standard error",
            needsRestart: true),
        .word(
            "logFormat", \.logFormat,
            "How the host writes its log. With 'automatic', it goes to systemd's journal with fields if systemd has connected standard error to it, and else to standard error as text. With 'json', each line is an object with the keys of 'bgtask logs --json'",
            needsRestart: true),
        .word(
            "conditions", \.conditions,
            "The source of the conditions. With 'system', the host reads this machine. With 'simulated', for tests, it assumes external power, an unmetered network and an idle, cool machine",
            needsRestart: true),
        .word(
            "network.lowData", \.lowData,
            "Which networks are in low-data mode: none, those that NetworkManager guesses to be metered, all metered ones, or all",
            needsRestart: true),
        .word(
            "isolation", \.isolation,
            "How the host kills a launch with all its processes. With 'strongest', it uses the first of the others that this machine offers. Choose another value only for tests",
            needsRestart: true),
        .word(
            "isolation.require", \.isolationRequirement,
            "What the host does if this machine lacks a layer of isolation that a manifest counts on. With 'full', it refuses the launch. With 'best', it launches with what there is, and the record says what that was"
        ),
        .users(
            "isolation.users", \.bundleUsers,
            "The users from which a host that runs as root gives each bundle its own. The user keeps the same number as long as the data directory of the bundle exists. With 'none', tasks run as root without capabilities. Hosts of other users ignore the key"
        ),
        .group(
            "control.read", \.readers,
            "The group of users who may read through the control socket: requests with their payloads, launches, the log. Empty means that only root and the user of the host may"
        ),
        .group(
            "control.submit", \.submitters,
            "The group of users who may submit requests of every bundle. Empty means that only root and the user of the host may"
        ),
        .path("paths.plugins", \.paths.plugins, "The directory with the libraries of the plugins"),
        .path("paths.manifests", \.paths.manifests, "The directory with the manifests"),
        .path(
            "paths.conditions", \.paths.conditions,
            "The directory with the definitions of custom conditions. Empty means conditions.d beside the directory of manifests, such as /etc/bgtask/conditions.d for /etc/bgtask/manifests"
        ),
        .path(
            "paths.state", \.paths.state,
            "The directory for the store and the data of bundles. The host creates it if it is missing"),
        .path("paths.socket", \.paths.socket, "The control socket"),
        .path("paths.runner", \.paths.runner, "The runner program. Empty means the one beside bgtaskd"),
        .publicKeys(
            "trust.keys", \.trustedKeys,
            "The public keys of those who may provide manifests, conditions and libraries. If there are any, the host uses only files that one of these keys has signed (see 'bgtask sign'). Empty means that no file needs a signature"
        ),
        .integer(
            "history.launches", \.keptLaunches, 0...10_000_000,
            "The number of the newest launches that the host always keeps. 10,000 launches take about 10 MB in the store. When the host starts, it removes those that are neither among the newest nor younger than history.age",
            needsRestart: true),
        .duration(
            "history.age", \.keptAge, .zero ... .seconds(3660 * 86_400),
            "The host also keeps every launch that is younger than this",
            needsRestart: true),
        .duration(
            "templates.idleTime", \.templateIdleTime, .zero ... .seconds(7 * 86_400),
            "The host unloads a plugin after this time without a launch. Until then, launches need not load it again",
            needsRestart: true),
        .size(
            "transfers.meteredPerDay", \.meteredTransfersPerDay, .mebibytes(0) ... .gibibytes(1024),
            "The bytes that the transfers of one bundle may move on metered networks in a day. Our choice: a mobile tariff has a few GiB in a month"
        ),
        .size(
            "log.size", \.logSize, .mebibytes(1) ... .gibibytes(64),
            "The size of the stored log on the disk, with what handlers print. The host removes the oldest part first",
            needsRestart: true),
        .duration(
            "log.age", \.logAge, .seconds(3600) ... .seconds(3660 * 86_400),
            "How long the host keeps lines of the stored log", needsRestart: true),
        .size(
            "log.perLaunch", \.logPerLaunch, .mebibytes(0) ... .gibibytes(1),
            "What the stored lines that one launch prints and logs may occupy. Many launches of a bundle can still push out the lines of others",
            needsRestart: true),
        .bool(
            "notifications.desktop", \.showsNotices,
            "Whether notifications of apps appear on the desktop of the user who runs the host, if its session bus has a service for them. They are also in the log",
            needsRestart: true),
        .bool(
            "recording.enabled", \.isRecording,
            "Whether the host records the events of its scheduler, for replays and forecasts. A recording has no payloads, and only the user of the host can read it",
            needsRestart: true),
        .size(
            "recording.size", \.recordingLimit, .mebibytes(1) ... .gibibytes(64),
            "The size of the recording on the disk. The host removes the oldest part first",
            needsRestart: true),
    ]
}

/// A key with the values that the documentation shows.
public struct DocumentedKey: Sendable {
    /// The key.
    public let key: SettingKey
    /// The default value; empty if the settings contain none.
    public let standard: String
    /// The environment variable that sets the key.
    public let variable: String
}

extension SettingTable {
    /// Returns every key with its default value and its environment variable.
    ///
    /// - Parameter paths: The default paths: those of this process, or ``HostPaths/root`` for the
    ///   documentation.
    /// - Returns: The keys, in the order of the table.
    public static func documented(paths: HostPaths) -> [DocumentedKey] {
        let standard = EffectiveSettings(paths: paths)
        return keys.map {
            DocumentedKey(
                key: $0, standard: $0.text(standard) ?? "", variable: SettingsEnvironment.name(of: $0))
        }
    }

    /// The Markdown table in `Documentation/Configuration.md`.
    public static var markdown: String {
        let rows = documented(paths: .root).map {
            let restart = $0.key.needsRestart ? ", *restart*" : ""
            let standard = $0.standard.isEmpty ? "–" : "`\($0.standard)`"
            return "| `\($0.key.name)` | \(standard) | \($0.key.kind.summary)\(restart) | \($0.key.reason) |"
        }
        return
            (["| key | default | values | meaning, and reason for the default |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    /// Advice for an unknown key: the key or section with the most similar name.
    public static func advice(for name: String) -> String {
        let sections = Set(
            keys.flatMap { key in
                key.path.indices.dropFirst().map { key.path[..<$0].joined(separator: ".") }
            })
        return Nearest.match(name, in: keys.map(\.name) + sections.sorted()).map { "Did you mean '\($0)'?" }
            ?? "List the valid keys: bgtask config keys"
    }
}
