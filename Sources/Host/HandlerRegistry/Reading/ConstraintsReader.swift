import StrictFiles
import TaskModel

/// Reads `storage:`, `battery:`, `between:`, `conflicts:` and `when:` of a task.
struct ConstraintsReader {
    /// The keys that this reader reads.
    static let keys = ["storage", "battery", "between", "conflicts", "when"]
    /// The greatest number of tasks with which one task can conflict: 32, our choice.
    static let mostConflicts = 32

    let pattern: IdentifierPattern
    let payload: [String: PayloadType]
    let problems: ProblemList

    /// The constraints; `nil` if there are none.
    func constraints(_ fields: Fields) -> (constraints: TaskConstraints?, places: ConstraintPlaces) {
        let conflicts = fields["conflicts"].map(conflicts) ?? []
        let constraints = TaskConstraints(
            storage: fields["storage"].flatMap(storage), battery: fields["battery"].flatMap(battery),
            between: fields["between"].flatMap(window), conflicts: conflicts.map(\.pattern),
            when: fields["when"].flatMap(expression))
        let places = ConstraintPlaces(conflicts: conflicts.map(\.place), when: fields["when"]?.place)
        return (constraints.isEmpty ? nil : constraints, places)
    }

    private func storage(_ node: YAMLNode) -> ByteCount? {
        if case .scalar(let text, _) = node.value, text.hasSuffix(" free") {
            problems.error(
                node.place, "storage '\(text.shortened)' contains the word 'free'",
                "Write only the size: storage: \(text.dropLast(5))")
            return nil
        }
        return node.size("storage", in: ByteCount(bytes: 1)...ByteCount.gibibytes(1 << 20), problems)
    }

    private func battery(_ node: YAMLNode) -> Int? {
        guard case .scalar(let text, _) = node.value, text.hasSuffix("%"), text.utf8.count <= 4,
            text.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) }),
            let percent = Int(text.dropLast()),
            (1...100).contains(percent)
        else {
            var advice = "Write it with its sign: battery: 40%"
            if case .scalar(let text, _) = node.value, text.hasSuffix("%") { advice = "Use 1% to 100%" }
            problems.error(
                node.place, "battery must be a percentage from 1% to 100%, found \(node.found)", advice)
            return nil
        }
        return percent
    }

    private func window(_ node: YAMLNode) -> DailyWindow? {
        guard let items = node.items("between", problems) else { return nil }
        let advice = "Write the beginning and the end: between: [22:00, 06:00]"
        guard items.count == 2 else {
            problems.error(
                node.place, "between has \(items.count) \(items.count == 1 ? "time" : "times") instead of 2",
                advice)
            return nil
        }
        var minutes: [Int] = []
        for item in items {
            guard case .scalar(let text, _) = item.value, let minute = DailyWindow.minute(of: text) else {
                var isMidnight = false
                if case .scalar("24:00", _) = item.value { isMidnight = true }
                problems.error(
                    item.place, "between: not a time of day: \(item.found)",
                    isMidnight ? "Write 00:00 for midnight" : advice)
                return nil
            }
            minutes.append(minute)
        }
        guard let window = DailyWindow(start: minutes[0], end: minutes[1]) else {
            problems.error(
                node.place, "between begins and ends at the same time", "Remove it for the whole day")
            return nil
        }
        return window
    }

    private func conflicts(_ node: YAMLNode) -> [(pattern: IdentifierPattern, place: Place)] {
        var found: [(pattern: IdentifierPattern, place: Place)] = []
        guard let items = node.items("conflicts", problems) else { return [] }
        if items.isEmpty { problems.error(node.place, "conflicts is empty", "Leave it out") }
        if items.count > Self.mostConflicts {
            problems.error(
                node.place, "conflicts has \(items.count) identifiers; the limit is \(Self.mostConflicts)",
                "Use a wildcard, such as com.example.photos.*")
        }
        for item in items {
            guard let text = item.text("an identifier in conflicts", problems) else { continue }
            do {
                let other = try IdentifierPattern(text)
                if other == pattern {
                    problems.error(
                        item.place, "the task conflicts with itself",
                        "Remove the identifier; a task never runs twice at the same time")
                } else if found.contains(where: { $0.pattern == other }) {
                    problems.error(item.place, "'\(other)' appears twice in conflicts", "Keep one")
                }
                found.append((other, item.place))
            } catch {
                problems.error(
                    item.place, "conflicts: '\(text.shortened)': \(error.finding)",
                    "Use the identifier of a task, or a wildcard that ends in '.*'")
            }
        }
        return found
    }

    private func expression(_ node: YAMLNode) -> WhenExpression? {
        guard let text = node.text("when", problems) else { return nil }
        do {
            let expression = try WhenExpression(text, payload: payload)
            if expression.dependsOnClock, !expression.canBeTrueForClock {
                problems.warning(
                    node.place,
                    "when: no hour of the week makes the expression true, so the task never starts",
                    "Write 'or' between times that exclude each other: hour >= 22 or hour < 6")
            } else if let found = try WhenExpression.impossibility(in: text, payload: payload) {
                let (place, position) = place(of: found.column, in: text, node)
                problems.warning(
                    place, "when: '\(found.part.shortened)' can never be true\(position)",
                    expression.canBeTrue
                        ? "Correct or remove this part" : "Correct it, because the task never starts")
            }
            return expression
        } catch {
            let (place, position) = place(of: error.column, in: text, node)
            let advice = error.unknown.map { unknown in
                Nearest.advice(for: unknown.word, in: unknown.candidates)
            }
            problems.error(place, "when: \(error.finding)\(position)", advice ?? error.remedy)
            return nil
        }
    }

    /// The position of a column of an expression in the file or, if the expression has several lines, in
    /// words.
    private func place(of column: Int, in text: String, _ node: YAMLNode) -> (Place, words: String) {
        var place = node.place
        if text.contains("\n") { return (place, " (column \(column) of the expression)") }
        if case .scalar(_, let isPlain) = node.value {
            // The column counts from 1 in the expression, which quotation marks shift by one.
            place.column += column - (isPlain ? 1 : 0)
        }
        return (place, "")
    }
}

/// The positions of constraints that later checks need.
struct ConstraintPlaces {
    /// The positions of the identifiers in `conflicts:`.
    var conflicts: [Place] = []
    /// The position of `when:`; `nil` if there is none.
    var when: Place?
}

extension WhenExpression {
    /// Whether the expression can be true at some hour of a week, if all other facts fit.
    fileprivate var canBeTrueForClock: Bool {
        for weekday in MachineFact.weekdays {
            for hour in 0..<24 {
                let value = value { fact in
                    switch fact {
                    case .machine(.hour): .number(Double(hour))
                    case .machine(.weekday): .text(weekday)
                    default: nil
                    }
                }
                if value != false { return true }
            }
        }
        return false
    }
}
