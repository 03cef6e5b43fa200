import StrictFiles
import TaskModel

/// Reads `queue: {concurrency, limit, order, unique}` of a task.
struct QueueReader {
    let kind: TaskKind
    let problems: ProblemList

    func queue(_ node: YAMLNode) -> QueueDeclaration? {
        let keys = ["concurrency", "limit", "order", "unique"]
        guard let fields = Fields(node, "queue", keys: keys, problems) else { return nil }
        guard kind == .processing || kind == .continuedProcessing else {
            problems.error(
                node.place, "kind \(kind.rawValue) can't have a queue",
                "Remove 'queue', or use the kind processing or continuedProcessing")
            return nil
        }
        var queue = QueueDeclaration()
        if let field = fields["concurrency"] {
            queue.concurrency =
                field.integer("concurrency", in: 1...QueueDeclaration.mostConcurrent, problems)
                ?? queue.concurrency
        }
        if let field = fields["limit"] {
            queue.limit =
                field.integer("limit", in: 1...QueueDeclaration.mostWaiting, problems) ?? queue.limit
        }
        if let field = fields["order"] {
            queue.order = field.word("order", as: QueueOrder.self, problems) ?? queue.order
        }
        queue.unique = fields["unique"].flatMap {
            $0.duration("unique", in: .seconds(1)...QueueDeclaration.longestUnique, problems)
        }
        return queue
    }
}
