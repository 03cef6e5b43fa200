import TaskModel

/// Decoding of settings that a recording lacks, because they are newer: each has its default value.
///
/// Synthesized decoding calls these methods instead of the standard library's, which throw for a missing key.
extension KeyedDecodingContainer {
    func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration { try setting(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try setting(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try setting(key) }

    /// Decodes the weights of bundles; an older recording has none.
    func decode(
        _ type: [BundleIdentifier: Double].Type, forKey key: Key
    ) throws -> [BundleIdentifier: Double] {
        try decodeIfPresent(type, forKey: key) ?? [:]
    }

    /// Decodes a value; if it is missing, it must be a setting of this type.
    private func setting<Value: Decodable>(_ key: Key) throws -> Value {
        if let value = try decodeIfPresent(Value.self, forKey: key) { return value }
        guard let standard = SchedulerSettings.defaults[key.stringValue] as? Value else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such setting"))
        }
        return standard
    }
}

extension SchedulerSettings {
    /// The default values of all settings that are one value, by their names.
    fileprivate static let defaults: [String: any Sendable] = Dictionary(
        Mirror(reflecting: SchedulerSettings()).children.compactMap { child in
            child.label.flatMap { label -> (String, any Sendable)? in
                switch child.value {
                case let value as Duration: (label, value)
                case let value as Double: (label, value)
                case let value as Int: (label, value)
                default: nil
                }
            }
        }, uniquingKeysWith: { first, _ in first })
}
