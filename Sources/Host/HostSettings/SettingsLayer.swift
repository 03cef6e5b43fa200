internal import Configuration
import StrictFiles
import TaskModel

/// The values from one source: a file, the environment or the command line.
struct SettingsLayer: Sendable {
    /// One value, and where it was set.
    struct Value: Sendable {
        var key: SettingKey
        var text: String
        var source: String
    }

    /// The values, by the name of their key.
    private(set) var values: [String: Value] = [:]
    /// The same values for swift-configuration, which selects the highest layer that has a value.
    let provider: InMemoryProvider

    init(_ name: String, _ values: [Value]) {
        for value in values { self.values[value.key.name] = value }
        provider = InMemoryProvider(
            name: name,
            values: Dictionary(
                values.map {
                    (AbsoluteConfigKey($0.key.path), ConfigValue(.string($0.text), isSecret: false))
                },
                uniquingKeysWith: { $1 }))
    }

    /// Creates a layer from a file; the source of each value contains its line.
    init(_ file: SettingsFile) {
        self.init(
            file.path,
            file.entries.map {
                Value(key: $0.key, text: $0.text, source: "\(file.path):\($0.place.line)")
            })
    }

    /// Creates the lowest layer, the default values.
    init(standard: EffectiveSettings) {
        self.init(
            "standard",
            SettingTable.keys.compactMap { key in
                key.text(standard).map { Value(key: key, text: $0, source: "standard") }
            })
    }
}

/// The result of merging all layers.
struct LayeredSettings: Sendable {
    /// The values in force.
    private(set) var effective: EffectiveSettings
    /// The same values with their sources, in the order of ``SettingTable/keys``; those of bundles come last.
    private(set) var values: [ConfiguredValue] = []

    /// Merges layers with the default values.
    ///
    /// - Parameters:
    ///   - standard: The values of the settings that no layer contains.
    ///   - layers: The layers, lowest first; a higher layer overrides a lower one.
    init(standard: EffectiveSettings, layers: [SettingsLayer]) {
        effective = standard
        let highestFirst = (layers.reversed() + [SettingsLayer(standard: standard)])
        let reader = ConfigReader(providers: highestFirst.map(\.provider))
        let bundles = Set(
            layers.flatMap(\.values.values).map(\.key).filter { $0.path.first == "bundles" }.map(\.name))
        let keys = SettingTable.keys + bundles.sorted().compactMap(SettingTable.key(named:))
        for key in keys {
            guard let text = reader.string(forKey: ConfigKey(key.path)) else { continue }
            key.set(&effective, text)
            let origins = highestFirst.compactMap { $0.values[key.name] }.map {
                ConfiguredValue.Origin(value: $0.text, source: $0.source)
            }
            guard let first = origins.first else { continue }
            values.append(
                ConfiguredValue(key: key.name, inForce: first, overridden: Array(origins.dropFirst())))
        }
    }
}
