/// The orders that the launcher has not answered yet.
///
/// The launcher never blocks, so it answers every *spawn* and *kill* within 5 s, even if only to report that
/// a process can't be killed. A launcher that does not answer hangs; the host then kills it, because no
/// launch could end otherwise. The kernel tells the host when a signal stops the launcher, which counts as an
/// order to go on: a running task that ends is noticed by the launcher alone.
struct AnswerWatch: Sendable {
    /// What an order is about.
    enum Order: Hashable, Sendable {
        /// The start or the kill of a launch.
        case launch(UInt64)
        /// The kill of a template that did not load in time.
        case template(UInt64)
        /// The end of a stop: a signal such as SIGSTOP has stopped the launcher.
        case goOn
    }

    /// The result of a look at the orders.
    enum Finding: Equatable, Sendable {
        /// No order waits for an answer.
        case quiet
        /// Look again after this time.
        case lookAgain(after: Duration)
        /// The launcher does not answer.
        case unresponsive
    }

    /// How long an order may wait for its answer.
    let answerTime: Duration
    /// The orders without an answer, with their times on CLOCK_MONOTONIC.
    private var asked: [Order: Duration] = [:]
    /// The orders that the last look found late.
    private var late: Set<Order> = []

    init(answerTime: Duration) {
        self.answerTime = answerTime
    }

    /// Notes an order; an earlier one about the same launch or template counts as answered.
    mutating func ask(_ order: Order, at now: Duration) {
        asked[order] = now
        late.remove(order)
    }

    /// Notes the answer to an order.
    mutating func answered(_ order: Order) {
        asked[order] = nil
        late.remove(order)
    }

    /// Forgets all orders, because their launcher has ended.
    mutating func removeAll() {
        asked = [:]
        late = []
    }

    /// Looks for orders without an answer.
    ///
    /// An order must be found late twice: the first look may come before the answers that arrived while the
    /// host itself was stopped.
    mutating func look(at now: Duration) -> Finding {
        guard let oldest = asked.values.min() else { return .quiet }
        guard now - oldest >= answerTime else { return .lookAgain(after: answerTime - (now - oldest)) }
        guard late.isEmpty else { return .unresponsive }
        late = Set(asked.filter { now - $0.value >= answerTime }.keys)
        return .lookAgain(after: answerTime / 3)
    }
}
