import StrictFiles
import TaskModel

/// Reads `requiresConditions:`, the names of custom conditions.
struct RequiredConditionsReader {
    /// The greatest number of conditions that one task can require.
    ///
    /// Our choice: far above any real need.
    static let most = 16

    let problems: ProblemList

    func conditions(_ node: YAMLNode) -> [(name: String, place: Place)] {
        var found: [(name: String, place: Place)] = []
        guard let items = node.items("requiresConditions", problems) else { return [] }
        if items.isEmpty { problems.error(node.place, "requiresConditions is empty", "Leave it out") }
        if items.count > Self.most {
            problems.error(
                node.place, "requiresConditions has \(items.count) names; the limit is \(Self.most)",
                "Define one condition that combines several of them")
        }
        for item in items {
            guard let name = item.text("a condition's name", problems), Self.check(name, item.place, problems)
            else { continue }
            if found.contains(where: { $0.name == name }) {
                problems.error(item.place, "the condition '\(name)' appears twice", "Keep one")
            }
            found.append((name, item.place))
        }
        return found
    }

    /// Whether a text is a valid name for a custom condition; reports a problem if it is not.
    static func check(
        _ name: String, _ place: Place, isDefinition: Bool = false, _ problems: ProblemList
    ) -> Bool {
        if CustomCondition.isName(name) { return true }
        let instead =
            switch name {
            case _ where isDefinition && CustomCondition.machineNames.contains(name):
                "Give the condition another name"
            case "power": "Use 'requiresExternalPower: true'"
            case "network": "Use 'network: any' or 'network: unmetered'"
            case "gpu": "Remove it; the submission of a continued task says whether it requires a GPU"
            case "storage": "Use 'storage: 2GiB'"
            case _ where CustomCondition.machineNames.contains(name):
                "Remove it, because the host heeds it for every task, or name its values in 'when'"
            default: "Use a lower-case letter, then a-z 0-9 and -, at most 64 characters in all"
            }
        let finding =
            CustomCondition.machineNames.contains(name)
            ? "'\(name)' is a built-in condition" : "not a valid condition name: '\(name.shortened)'"
        problems.error(place, finding, instead)
        return false
    }
}
