import TaskModel

/// Says what happens to a request at the deadline of its client, and holds one whose deadline has passed.
///
/// ``Scheduler`` fails such a request in the same step, so only `bgtask explain` and forecasts see the veto.
/// A deadline at which the request starts is no veto: from then on, its score does not count.
struct Deadline: Policy {
    let name = "Deadline"
    let awaited = "its failure, because its deadline has passed"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let limit = subject.request.submission.startDeadline else { return subject.proceed() }
        let left = limit.date - now.wall
        let isOver = left <= .zero
        let time = isOver ? "\(limit.date.text)" : "\(limit.date.text) (in \(left.text))"
        switch limit.action {
        case .start:
            return subject.proceed(
                Rationale(
                    quantity: "deadline", required: limit.date.text,
                    observed: isOver
                        ? "since \(time), the score does not count; the request starts as soon as no policy objects"
                        : "from \(time) on, the score does not count"))
        case .fail where isOver:
            return subject.wait(
                for: .time,
                Rationale(
                    quantity: "deadline", required: limit.date.text,
                    observed: "the deadline passed \((.zero - left).text) ago",
                    remedy: "Submit it again: bgtask submit \(subject.request.identifier)"))
        case .fail:
            return subject.proceed(
                Rationale(
                    quantity: "deadline", required: limit.date.text,
                    observed: "the request fails at \(time) unless it has started"))
        }
    }
}
