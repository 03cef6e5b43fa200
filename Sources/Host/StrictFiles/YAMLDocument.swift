import TaskModel
import Yams

/// Parses YAML into nodes with positions, and refuses features that make a file hard to read, such as
/// aliases.
///
/// Only this file uses Yams. libYAML limits nesting to 1,000 levels.
public enum YAMLDocument {
    /// The size limit of a file: 64 KiB.
    ///
    /// The number is ours; the largest manifest of this project has 2 KiB.
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
        guard let text = String(validating: bytes, as: UTF8.self) else {
            problems.error(nil, "the file is not UTF-8", "Save it as UTF-8")
            return nil
        }
        do {
            let parser = try Parser(yaml: text, encoding: .utf8)
            guard let root = try parser.singleRoot() else {
                if let remedy = problems.kind.whenEmpty {
                    problems.error(nil, "the file is empty", remedy)
                    return nil
                }
                return YAMLNode(value: .mapping([]), place: Place(line: 1, column: 1))
            }
            // The parser must live until here, because it owns the anchors, which nodes reference weakly.
            return withExtendedLifetime(parser) { convert(root, problems: problems) }
        } catch let error as YamlError {
            report(error, problems: problems)
        } catch {
            problems.error(nil, "\(error)", nil)
        }
        return nil
    }

    private static func convert(_ node: Node, isKey: Bool = false, problems: ProblemList) -> YAMLNode {
        let place = Place(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
        if let anchor = node.anchor {
            problems.error(
                place, "anchors are not allowed: '&\(anchor.rawValue.shortened)'",
                "\(problems.kind.plural) can't use anchors or aliases. Write the value out")
        }
        switch node {
        case .alias:
            problems.error(
                place, "aliases are not allowed",
                "\(problems.kind.plural) can't use anchors or aliases. Write the value out")
            return YAMLNode(value: .scalar("", isPlain: true), place: place)
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain
            // Yams gives a string tag to quoted scalars and keys that have no tag. It gives the key '<<' a
            // merge tag; that key is reported elsewhere.
            if !(isKey && scalar.string == "<<" && scalar.tag.rawValue == Tag.Name.merge.rawValue) {
                refuse(
                    tag: scalar.tag.rawValue, unless: isPlain && !isKey ? "" : Tag.Name.str.rawValue,
                    at: place, problems)
            }
            return YAMLNode(value: .scalar(scalar.string, isPlain: isPlain), place: place)
        case .sequence(let sequence):
            refuse(tag: sequence.tag.rawValue, unless: "", at: place, problems)
            return YAMLNode(
                value: .sequence(sequence.map { convert($0, problems: problems) }), place: place)
        case .mapping(let mapping):
            refuse(tag: mapping.tag.rawValue, unless: "", at: place, problems)
            let pairs = mapping.map {
                (
                    key: convert($0.key, isKey: true, problems: problems),
                    value: convert($0.value, problems: problems)
                )
            }
            return YAMLNode(value: .mapping(pairs), place: place)
        }
    }

    private static func refuse(tag: String, unless plain: String, at place: Place, _ problems: ProblemList) {
        guard tag != plain, tag != "" else { return }
        problems.error(
            place, "tags are not allowed: '\(tag.shortened)'",
            "\(problems.kind.plural) can't use tags. Remove it; the key determines the type"
        )
    }

    private static func report(_ error: YamlError, problems: ProblemList) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let isAlias = problem.contains("undefined alias")
            problems.error(
                Place(line: mark.line, column: mark.column), isAlias ? "aliases are not allowed" : problem,
                isAlias
                    ? "\(problems.kind.plural) can't use anchors or aliases. Write the value out"
                    : "This is not valid YAML. Check the text just before this position")
        case .duplicatedKeysInMapping(let keys, let context):
            problems.error(
                Place(line: context.mark.line, column: context.mark.column),
                "the key '\(keys.joined(separator: "', '").shortened)' appears twice", "Keep one")
        case .reader(let problem, _, _, _):
            problems.error(nil, problem, "Remove control characters, and save the file as UTF-8")
        default:
            problems.error(nil, "\(error)", nil)
        }
    }
}
