import TaskModel

/// What the scheduler remembers of bundles, on its way into the store.
///
/// A launch changes it twice, and it need not be durable: it waits for the next write of
/// anything else, or for ``patience``. What a user set is written at once, and the user is answered when it
/// is durable.
struct BundleKeeper: Sendable {
    /// How long a change waits for another write to share a commit with: 5 s.
    ///
    /// Ours: a host that dies forgets at most so much of what a bundle spent, and a busy host writes it for
    /// nothing.
    static let patience = Duration.seconds(5)

    /// What the store does not have and has not been asked to keep.
    private var unsaved: [BundleIdentifier: BundleState] = [:]
    /// How many writes of each bundle the store has not answered.
    private var writing: [BundleIdentifier: Int] = [:]
    /// Callers that wait until a bundle's change is durable.
    private var callers: [BundleIdentifier: [CallID]] = [:]
    /// When what is unsaved is written in any case, on CLOCK_BOOTTIME.
    private(set) var due: Duration?

    /// Whether a caller waits for something that is not being written yet.
    var isUrgent: Bool { callers.keys.contains { unsaved[$0] != nil } }

    /// Takes a new state in, at an instant of CLOCK_BOOTTIME.
    mutating func keep(_ state: BundleState, of bundle: BundleIdentifier, at boot: Duration) {
        unsaved[bundle] = state
        if due == nil { due = boot + Self.patience }
    }

    /// Enters a caller that waits until everything about a bundle is durable.
    mutating func wait(for bundle: BundleIdentifier, _ call: CallID) {
        callers[bundle, default: []].append(call)
    }

    /// What the store should keep now; it counts as being written.
    mutating func take() -> [(BundleIdentifier, BundleState)] {
        let taken = unsaved.sorted { $0.key < $1.key }
        for (bundle, _) in taken { writing[bundle, default: 0] += 1 }
        unsaved = [:]
        due = nil
        return taken
    }

    /// The store has answered one write of a bundle.
    mutating func written(_ bundle: BundleIdentifier) {
        writing[bundle] = writing[bundle].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// The callers of bundles of which nothing is left to write; they wait no longer.
    mutating func takeSettled() -> [(BundleIdentifier, CallID)] {
        let settled = callers.filter { unsaved[$0.key] == nil && writing[$0.key] == nil }
        for bundle in settled.keys { callers[bundle] = nil }
        return settled.sorted { $0.key < $1.key }.flatMap { pair in pair.value.map { (pair.key, $0) } }
    }

    /// The callers of one bundle, whose change could not be stored; they wait no longer.
    mutating func takeCallers(of bundle: BundleIdentifier) -> [CallID] {
        callers.removeValue(forKey: bundle) ?? []
    }
}
