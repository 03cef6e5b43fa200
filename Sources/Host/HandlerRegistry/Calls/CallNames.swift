import StrictFiles
import TaskModel

/// Follows which names are bound while a program is read from top to bottom.
final class CallNames {
    /// The meaning of a name.
    enum Meaning: Equatable {
        case value(CallType)
        /// Memory with a known size: a buffer or a mapped file.
        case memory
    }

    private let problems: ProblemList
    private var meanings: [String: Meaning] = [:]
    private var ended: [String: Place] = [:]
    /// False for what runs at any time, and then looks by itself whether its names live.
    var isFlowChecked = true

    init(problems: ProblemList) {
        self.problems = problems
    }

    /// Notes a name; a second meaning for a living name is an error unless its type stays the same.
    func bind(_ name: String, _ meaning: Meaning, at place: Place) {
        if !PayloadText.isKey(name) {
            problems.error(
                place, "not a valid name: '\(name.shortened)'", "Use a letter, then letters, digits and _")
        }
        if let old = meanings[name], old != meaning {
            problems.error(
                place, "the name '\(name)' is already used for another type", "Choose another name")
        }
        meanings[name] = meaning
        ended[name] = nil
    }

    /// The meaning of a name; reports a name that is not bound before this place, or that an earlier step
    /// ended.
    func use(_ name: String, at place: Place) -> Meaning? {
        guard let meaning = meanings[name] else {
            problems.error(
                place, "the name '\(name.shortened)' is not bound before it is used",
                Nearest.advice(for: name, in: Array(meanings.keys)))
            return nil
        }
        if isFlowChecked, let end = ended[name] {
            problems.error(
                place, "the name '\(name)' can't be used after line \(end.line), where a step ends it",
                "Use it before that step")
        }
        return meaning
    }

    /// Marks a name as dead from here on.
    func end(_ name: String, at place: Place) {
        if use(name, at: place) != nil { ended[name] = place }
    }
}
