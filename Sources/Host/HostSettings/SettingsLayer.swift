internal import Configuration
import StrictFiles
import TaskModel

/// One layer of the configuration: what one file, the environment or the command line says.
struct SettingsLayer: Sendable {
    /// One value and who says so.
    struct Value: Sendable {
        var key: SettingKey
        var text: String
        var source: String
    }

    /// Its values by key.
    private(set) var values: [String: Value] = [:]
    /// The same for swift-configuration, which decides among layers.
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

    /// A file's values, each with its line.
    init(_ file: SettingsFile) {
        self.init(
            file.path,
            file.entries.map {
                Value(key: $0.key, text: $0.text, source: "\(file.path):\($0.place.line)")
            })
    }

    /// What the code says.
    init(standard: EffectiveSettings) {
        self.init(
            "standard",
            SettingTable.keys.compactMap { key in
                key.text(standard).map { Value(key: key, text: $0, source: "standard") }
            })
    }
}

/// Layers put together.
struct LayeredSettings: Sendable {
    /// The values in force.
    private(set) var effective: EffectiveSettings
    /// The same with their origins, in the order of the table, bundles last.
    private(set) var values: [ConfiguredValue] = []

    /// Puts layers over the standard values.
    ///
    /// - Parameters:
    ///   - standard: What counts where no layer says anything.
    ///   - layers: The lowest first.
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
