import TaskModel

/// Collects changes of bundle states until they are written to the store.
///
/// Each launch changes its bundle's state twice, and these changes may be lost in a crash. They are written
/// together with the next other write, but at most ``patience`` later. If no launch is under way, they are
/// written at once, so that the host need not wake for them. A change by a user is written at once, too, and
/// the user gets the answer when the change is durable.
struct BundleKeeper: Sendable {
    /// The longest time that a change waits for another write, to share its commit: 5 s.
    ///
    /// Our choice: a host that crashes loses at most 5 s of changes, and a busy host needs no extra commits.
    static let patience = Duration.seconds(5)

    /// The newest state of each bundle with changes that were not written yet.
    private var unsaved: [BundleIdentifier: BundleState] = [:]
    /// The number of writes for each bundle that the store has not answered.
    private var writing: [BundleIdentifier: Int] = [:]
    /// The callers that wait until a change of a bundle is durable.
    private var callers: [BundleIdentifier: [CallID]] = [:]
    /// When the unsaved states must be written, on CLOCK_BOOTTIME; `nil` if there are none.
    private(set) var due: Duration?

    /// Whether there are changes that the store has not refused yet.
    private(set) var hasNews = false

    /// Whether a caller waits for a change that was not written yet.
    var isUrgent: Bool { callers.keys.contains { unsaved[$0] != nil } }

    /// Adds the state of a bundle; `boot` is the present time on CLOCK_BOOTTIME.
    ///
    /// `isNew` is false if the store refused the state.
    mutating func keep(
        _ state: BundleState, of bundle: BundleIdentifier, isNew: Bool = true, at boot: Duration
    ) {
        unsaved[bundle] = state
        if isNew { hasNews = true }
        if due == nil { due = boot + Self.patience }
    }

    /// Adds a caller that waits until all changes of a bundle are durable.
    mutating func wait(for bundle: BundleIdentifier, _ call: CallID) {
        callers[bundle, default: []].append(call)
    }

    /// Returns the unsaved states, which the caller must write now.
    mutating func take() -> [(BundleIdentifier, BundleState)] {
        let taken = unsaved.sorted { $0.key < $1.key }
        for (bundle, _) in taken { writing[bundle, default: 0] += 1 }
        unsaved = [:]
        due = nil
        hasNews = false
        return taken
    }

    /// Notes that the store answered one write of a bundle.
    mutating func written(_ bundle: BundleIdentifier) {
        writing[bundle] = writing[bundle].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Removes and returns the callers whose bundles have no unsaved state and no write under way.
    mutating func takeSettled() -> [(BundleIdentifier, CallID)] {
        let settled = callers.filter { unsaved[$0.key] == nil && writing[$0.key] == nil }
        for bundle in settled.keys { callers[bundle] = nil }
        return settled.sorted { $0.key < $1.key }.flatMap { pair in pair.value.map { (pair.key, $0) } }
    }

    /// Removes and returns the callers of a bundle whose state could not be stored.
    mutating func takeCallers(of bundle: BundleIdentifier) -> [CallID] {
        callers.removeValue(forKey: bundle) ?? []
    }
}
