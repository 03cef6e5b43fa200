import TaskModel

/// Parses YAML into nodes with positions, and refuses features that make a file hard to read, such as
/// aliases.
public enum YAMLDocument {
    /// The size limit of a file: 64 KiB.
    ///
    /// Our choice: the largest manifest in this repository has less than 2 KiB.
    public static let maximumSize = 64 << 10

    /// Parses one document.
    ///
    /// - Returns: The root node; `nil` if there is none, after a problem has been reported.
    public static func parse(_ bytes: [UInt8], problems: ProblemList) -> YAMLNode? {
        guard bytes.count <= maximumSize else {
            problems.error(
                nil, "the file has \(bytes.count) bytes; the limit is \(maximumSize)",
                problems.kind.whenLarge)
            return nil
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            problems.error(nil, "the file is not UTF-8", "Save it as UTF-8")
            return nil
        }
        do {
            var reader = YAMLReader(events: try YAMLEvents(bytes), problems: problems)
            guard let root = try reader.root() else {
                if let remedy = problems.kind.whenEmpty {
                    problems.error(nil, "the file is empty", remedy)
                    return nil
                }
                return YAMLNode(value: .mapping([]), place: Place(line: 1, column: 1))
            }
            return root
        } catch {
            problems.error(error.place, error.finding, error.remedy)
            return nil
        }
    }
}

/// Builds nodes from events.
private struct YAMLReader: ~Copyable {
    /// The greatest depth of nested lists and mappings.
    ///
    /// Our choice: no file of this project needs more than 8.
    private static let maximumDepth = 32

    private var events: YAMLEvents
    private let problems: ProblemList

    init(events: consuming YAMLEvents, problems: ProblemList) {
        self.events = events
        self.problems = problems
    }

    /// Reads the root node of the only document; `nil` if there is no document.
    mutating func root() throws(YAMLEvents.Failure) -> YAMLNode? {
        _ = try events.next()
        guard case .documentStart = try events.next().event else { return nil }
        let root = try node(events.next(), depth: 0)
        _ = try events.next()
        let end = try events.next()
        guard case .streamEnd = end.event else {
            throw YAMLEvents.Failure(
                place: end.place, finding: "a second document begins here",
                remedy:
                    "\(problems.kind.plural) can't have more than one document. Remove '---' and what follows"
            )
        }
        return root
    }

    /// Reads the node whose first event is given.
    private mutating func node(
        _ first: YAMLEvents.Item, depth: Int
    ) throws(YAMLEvents.Failure) -> YAMLNode {
        guard depth <= Self.maximumDepth else {
            throw YAMLEvents.Failure(
                place: first.place,
                finding: "lists and mappings are nested more than \(Self.maximumDepth) deep",
                remedy: "Remove brackets, dashes or keys that are not needed")
        }
        refuseProperties(of: first)
        switch first.event {
        case .scalar(let text, let isPlain):
            return YAMLNode(value: .scalar(text, isPlain: isPlain), place: first.place)
        case .sequenceStart:
            var items: [YAMLNode] = []
            while true {
                let item = try events.next()
                if case .sequenceEnd = item.event { break }
                items.append(try node(item, depth: depth + 1))
            }
            return YAMLNode(value: .sequence(items), place: first.place)
        case .mappingStart:
            return YAMLNode(value: .mapping(try pairs(depth: depth)), place: first.place)
        case .alias, .sequenceEnd, .mappingEnd, .documentStart, .documentEnd, .streamStart, .streamEnd:
            // Of these events, only an alias can occur here. Reading ends, because the value of the alias is
            // not known.
            throw YAMLEvents.Failure(
                place: first.place, finding: "aliases are not allowed",
                remedy: "\(problems.kind.plural) can't use anchors or aliases. Write the value out")
        }
    }

    /// Reads the keys and values of a mapping, up to its end.
    private mutating func pairs(
        depth: Int
    ) throws(YAMLEvents.Failure) -> [(key: YAMLNode, value: YAMLNode)] {
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        var places: [String: Place] = [:]
        while true {
            let item = try events.next()
            if case .mappingEnd = item.event { return pairs }
            let key = try node(item, depth: depth + 1)
            let value = try node(events.next(), depth: depth + 1)
            if case .scalar(let name, _) = key.value {
                if let first = places.updateValue(key.place, forKey: name) {
                    throw YAMLEvents.Failure(
                        place: key.place,
                        finding: "the key '\(name.shortened)' appears twice, first on line \(first.line)",
                        remedy: "Keep one")
                }
            }
            pairs.append((key, value))
        }
    }

    private func refuseProperties(of item: YAMLEvents.Item) {
        if let anchor = item.anchor {
            problems.error(
                item.place, "anchors are not allowed: '&\(anchor.shortened)'",
                "\(problems.kind.plural) can't use anchors or aliases. Write the value out")
        }
        if let tag = item.tag {
            problems.error(
                item.place, "tags are not allowed: '\(tag.shortened)'",
                "\(problems.kind.plural) can't use tags. Remove it; the key determines the type")
        }
    }
}
