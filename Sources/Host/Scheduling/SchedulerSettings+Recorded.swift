import TaskModel

extension KeyedDecodingContainer {
    /// Decodes a duration; a setting that the recording lacks, because it is newer, has its default value.
    ///
    /// Synthesized decoding calls this method instead of the standard library's, which throws for a missing
    /// key.
    func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration {
        if let value = try decodeIfPresent(type, forKey: key) { return value }
        guard let standard = SchedulerSettings.durations[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such duration"))
        }
        return standard
    }

    /// Decodes a whole number; a setting that the recording lacks, because it is newer, has its default
    /// value.
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        if let value = try decodeIfPresent(type, forKey: key) { return value }
        guard let standard = SchedulerSettings.integers[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such number"))
        }
        return standard
    }

    /// Decodes the weights of bundles; an older recording has none.
    func decode(
        _ type: [BundleIdentifier: Double].Type, forKey key: Key
    ) throws -> [BundleIdentifier: Double] {
        try decodeIfPresent(type, forKey: key) ?? [:]
    }
}

extension KeyedDecodingContainer {
    /// Decodes a number; a setting that the recording lacks, because it is newer, has its default value.
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        if let value = try decodeIfPresent(type, forKey: key) { return value }
        guard let standard = SchedulerSettings.decimals[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such number"))
        }
        return standard
    }
}

extension SchedulerSettings {
    /// The default values of all settings that are whole numbers, by their names.
    fileprivate static let integers = Dictionary(
        Mirror(reflecting: SchedulerSettings()).children.compactMap { child in
            child.label.flatMap { label in (child.value as? Int).map { (label, $0) } }
        }, uniquingKeysWith: { first, _ in first })

    /// The default values of all settings that are decimal numbers, by their names.
    fileprivate static let decimals = Dictionary(
        Mirror(reflecting: SchedulerSettings()).children.compactMap { child in
            child.label.flatMap { label in (child.value as? Double).map { (label, $0) } }
        }, uniquingKeysWith: { first, _ in first })

    /// The default values of all settings that are durations, by their names.
    fileprivate static let durations = Dictionary(
        Mirror(reflecting: SchedulerSettings()).children.compactMap { child in
            child.label.flatMap { label in (child.value as? Duration).map { (label, $0) } }
        }, uniquingKeysWith: { first, _ in first })
}
