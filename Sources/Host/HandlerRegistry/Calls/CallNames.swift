import StrictFiles
import TaskModel

/// Tracks which names are bound while the steps of a call are read from first to last.
final class CallNames {
    /// What a name refers to.
    enum Meaning: Equatable {
        case value(CallType)
        /// Memory with a known size: a buffer or a mapped file.
        case memory
    }

    /// The greatest number of names, and of callbacks, that an encoded program can have.
    static let maximum = 1023

    private let problems: ProblemList
    private var meanings: [String: Meaning] = [:]
    private var ended: [String: Place] = [:]
    private var recorded: Set<String> = []
    /// Whether the use of an ended name is an error.
    ///
    /// It is false for `message:` and `onExpiration:`, which can run at any time; the runner checks their
    /// names.
    var isFlowChecked = true

    init(problems: ProblemList) {
        self.problems = problems
    }

    /// How many names are bound or ended.
    var count: Int { meanings.count }

    /// Binds a name; binding it again with a different meaning is an error.
    func bind(_ name: String, _ meaning: Meaning, at place: Place) {
        if !PayloadText.isKey(name) {
            problems.error(
                place, "not a valid name: '\(name.shortened)'",
                "Use a letter, then letters, digits and _, at most 64 in all")
        }
        if let old = meanings[name], old != meaning {
            problems.error(
                place, "the name '\(name)' is already used for another type", "Choose another name")
        }
        meanings[name] = meaning
        ended[name] = nil
        recorded.insert(name)
    }

    /// Reads steps, and returns the names that they bind.
    func recordingBinds<Steps>(_ read: () -> Steps) -> (Steps, Set<String>) {
        recorded = []
        let steps = read()
        return (steps, recorded)
    }

    /// Looks up a name; reports a name that no earlier step bound, or that an earlier step ended.
    func use(_ name: String, at place: Place) -> Meaning? {
        guard let meaning = meanings[name] else {
            problems.error(
                place, "no earlier step defines the name '\(name.shortened)'",
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

    /// Marks a name as ended: later steps must not use it.
    func end(_ name: String, at place: Place) {
        if use(name, at: place) != nil { ended[name] = place }
    }
}
