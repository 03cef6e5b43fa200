import Scheduling
import TaskModel

/// The launches that the store could not record, for example because its file system is full.
///
/// A launch that is not recorded does not start, whatever the scheduler and its acts promise.
struct RefusedStarts: Sendable {
    private var refusals: [RequestID: StoreError] = [:]

    /// Notes the store's answer to the start of a request.
    mutating func note(_ refusal: StoreRefusal, for id: RequestID) {
        guard case .store(let error) = refusal, error.code != .notPending else { return }
        refusals[id] = error
    }

    /// Forgets all refusals, because the store has recorded a start.
    mutating func removeAll() { refusals = [:] }

    /// Forgets a request that is not pending any more.
    mutating func forget(_ id: RequestID) { refusals[id] = nil }

    /// Why the store records no launch now; `nil` if it does, or if no launch has been tried.
    var error: StoreError? { refusals.min { $0.key < $1.key }?.value }

    /// What is true of a request while the store records no launch: no act of a person starts it before the
    /// store works again.
    ///
    /// - Parameters:
    ///   - headline: The headline as it would be without the store's error.
    ///   - id: The request.
    /// - Returns: The headline with what helps first.
    func headline(_ headline: String, of id: RequestID) -> String {
        guard let error else { return headline }
        if refusals[id] != nil {
            return "Waits for \(error.awaited): \(error.act.withSmallLetter), and it starts by itself."
        }
        return "No task can start: \(error.cause). \(error.shortAct). After that: \(headline.withSmallLetter)"
    }

    /// The outlook of a request while the store records no launch.
    func outlook(_ outlook: Outlook, of id: RequestID) -> Outlook {
        guard let error else { return outlook }
        var outlook = outlook
        outlook.headline = headline(outlook.headline, of: id)
        let effect: Remedy.Effect = refusals[id] == nil ? .unknown : .takesTurn
        outlook.remedies = [Remedy(acts: [Remedy.Act(text: error.act)], effect: effect)]
        return outlook
    }

    /// The explanation of a request while the store records no launch: its first veto is that of the store.
    func explanation(_ explanation: Explanation) -> Explanation {
        guard let error else { return explanation }
        var explanation = explanation
        for verdict in explanation.verdicts.indices {
            for index in explanation.verdicts[verdict].rationale.indices {
                let remedy = explanation.verdicts[verdict].rationale[index].remedy
                explanation.verdicts[verdict].rationale[index].remedy = remedy?.withoutLaunch
            }
        }
        explanation.verdicts.insert(error.verdict, at: 0)
        return explanation
    }

    /// Puts the store before all other reasons for which a request waits.
    func apply(to summary: inout PendingSummary) {
        guard let error else { return }
        summary.headline = headline(summary.headline, of: summary.request.id)
        if summary.reason != nil { summary.otherReasons += 1 }
        summary.reason = error.verdict
    }
}

extension StoreError {
    /// The directory of the store.
    private var directory: String {
        let parts = subject.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "." : parts.count == 1 ? "/" : parts.joined(separator: "/")
    }

    /// What a request waits for while the store has this error.
    fileprivate var awaited: String {
        code == .diskFull
            ? "free space for the host's store" : "the host's store, which can't record launches"
    }

    /// Why the store records no launch, as a sentence without a full stop.
    fileprivate var cause: String {
        code == .diskFull
            ? "the file system of \(directory), where the host stores launches, is full"
            : "the host can't store launches in \(subject) (\(finding))"
    }

    fileprivate var verdict: Verdict {
        Verdict(
            policy: "Store", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: "store", required: "able to store a launch", observed: cause, remedy: shortAct)
            ])
    }

    /// What to do, as the beginning of a sentence.
    fileprivate var act: String {
        code == .diskFull
            ? "Free some space in the file system of \(directory), which is full (df -h \(directory))"
            : remedy
    }

    /// The same after ``cause``, which names the file system.
    fileprivate var shortAct: String {
        code == .diskFull ? "Free some space there (df -h \(directory))" : remedy
    }
}

extension String {
    /// The text with its first letter in lower case.
    fileprivate var withSmallLetter: String { prefix(1).lowercased() + dropFirst() }

    /// The text of a remedy without the advice to launch the task.
    fileprivate var withoutLaunch: String {
        let advice = ", or start it now"
        let start = indices.first { self[$0...].hasPrefix(advice) }
        return start.map { String(self[..<$0]) } ?? self
    }
}
