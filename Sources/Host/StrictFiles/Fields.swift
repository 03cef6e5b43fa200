/// The fields of a mapping in a file; creating it reports unknown keys.
public struct Fields {
    /// The position of the mapping.
    public let place: Place
    private var values: [String: YAMLNode] = [:]
    private var keyPlaces: [String: Place] = [:]

    /// Reads a mapping; returns `nil` if the node is not a mapping, after a problem has been reported.
    ///
    /// `keys` are the permitted keys; `nil` permits all.
    public init?(_ node: YAMLNode, _ what: String, keys: [String]?, _ problems: ProblemList) {
        place = node.place
        guard case .mapping(let pairs) = node.value else {
            problems.error(
                node.place, "\(what) must be a mapping, found \(node.found)",
                "Write keys with values: {key: value}")
            return nil
        }
        for (key, value) in pairs {
            guard case .scalar(let name, _) = key.value else {
                problems.error(key.place, "a key in \(what) is \(key.found)", "A key must be a word")
                continue
            }
            if name == "<<" {
                problems.error(
                    key.place, "merge keys are not allowed",
                    "\(problems.kind.plural) can't use merge keys. Write the keys out"
                )
            } else if let keys, !keys.contains(name) {
                problems.error(
                    key.place, "unknown key '\(name.shortened)' in \(what)",
                    Nearest.advice(for: name, in: keys, noun: "keys"))
            } else {
                values[name] = value
                keyPlaces[name] = key.place
            }
        }
    }

    /// The value of a key; `nil` if the key is missing.
    public subscript(key: String) -> YAMLNode? { values[key] }

    /// The value of a required key; reports a problem if it is missing.
    public func required(_ key: String, _ what: String, _ problems: ProblemList) -> YAMLNode? {
        if let value = values[key] { return value }
        problems.error(place, "'\(key)' is missing from \(what)", "Add it")
        return nil
    }

    /// The keys with their positions and values, in the order of the file.
    public var all: [(key: String, place: Place, value: YAMLNode)] {
        values.compactMap { key, value in keyPlaces[key].map { (key, $0, value) } }
            .sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
    }
}
