import TaskModel

/// The transfers that wait, and that the program begins itself when a place is free.
struct TransferReserve: Sendable {
    /// Transfers of the same terms and server.
    struct Queue: Hashable {
        let terms: TransferBook.Terms
        let server: String
    }

    private var queues: [TransferID: Queue] = [:]
    private var counts: [Queue: Int] = [:]
    private var bundleCounts: [BundleIdentifier: Int] = [:]

    /// All transfers in reserve, oldest first.
    var ids: [TransferID] { queues.keys.sorted() }
    /// The terms of the transfers in reserve.
    var terms: Set<TransferBook.Terms> { Set(counts.keys.map(\.terms)) }

    func contains(_ id: TransferID) -> Bool { queues[id] != nil }
    func count(of queue: Queue) -> Int { counts[queue, default: 0] }
    func count(of bundle: BundleIdentifier) -> Int { bundleCounts[bundle, default: 0] }
    /// The transfers in reserve with these terms, oldest first.
    func ids(with terms: TransferBook.Terms) -> [TransferID] {
        queues.filter { $0.value.terms == terms }.keys.sorted()
    }

    mutating func insert(_ id: TransferID, _ queue: Queue) {
        guard queues.updateValue(queue, forKey: id) == nil else { return }
        counts[queue, default: 0] += 1
        bundleCounts[queue.terms.bundle, default: 0] += 1
    }

    /// Forgets a transfer, because it has begun or the program has given it back.
    ///
    /// - Returns: Whether it was in reserve.
    @discardableResult
    mutating func remove(_ id: TransferID) -> Bool {
        guard let queue = queues.removeValue(forKey: id) else { return false }
        counts[queue] = count(of: queue) > 1 ? count(of: queue) - 1 : nil
        let bundle = queue.terms.bundle
        bundleCounts[bundle] = count(of: bundle) > 1 ? count(of: bundle) - 1 : nil
        return true
    }
}
