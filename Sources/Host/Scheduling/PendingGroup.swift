import HeapModule
import TaskModel

/// What of a request decides how the machine's conditions bear on it.
///
/// Policies whose reach is the machine answer alike about all requests with the same traits.
struct MachineTraits: Hashable, Sendable {
    let lane: Lane
    let kind: TaskKind
    let needs: Needs
}

/// The pending requests with the same traits.
///
/// While the machine keeps one of them from starting it keeps all, so that the group is held as a whole: that
/// costs nothing per request, whichever way the condition turns. Keys are left behind where a request moved
/// on, and are skipped or swept later.
struct PendingGroup: Sendable {
    /// What the machine says of the whole group.
    enum Hold: Equatable, Sendable {
        /// Conditions or settings changed since the last answer.
        case unknown
        /// Each request is for itself.
        case none
        /// Nothing of the group can start until conditions change.
        case held
    }

    let traits: MachineTraits
    /// One with these traits, to ask policies about all of them.
    let sample: TaskRequest
    var hold = Hold.unknown
    /// Those that may have their turn.
    private(set) var open = RequestQueue()
    /// Those that wait for something remembered of their bundles.
    private var waitingForBundle = RequestQueue()
    /// Those whose score is too low.
    private var waitingForScore = RequestQueue()
    private var waiting: [Fact: RequestQueue] = [:]
    /// Those that nothing but a date keeps, as far as was known when they were last judged.
    private var dates = Heap<RequestKey>()
    /// Those whose own date lies ahead; they were not judged, so something else may keep them longer.
    private var unjudged = Heap<RequestKey>()

    init(_ traits: MachineTraits, sample: TaskRequest) {
        self.traits = traits
        self.sample = sample
    }

    var keyCount: Int {
        open.count + waitingForBundle.count + waitingForScore.count + dates.count + unjudged.count
            + waiting.values.reduce(0) { $0 + $1.count }
    }

    mutating func open(_ key: RequestKey, bundle: Int) { open.insert(key, of: bundle) }

    /// Sets a request aside until its own date, without asking the policies.
    mutating func putOff(_ key: RequestKey) { unjudged.insert(key) }

    /// Sets a request aside until a date.
    mutating func wait(until key: RequestKey) { dates.insert(key) }

    /// Sets a request aside until a fact changes.
    mutating func wait(for fact: Fact, _ key: RequestKey, bundle: Int) {
        switch fact {
        case .scores: waitingForScore.insert(key, of: bundle)
        case .bundle: waitingForBundle.insert(key, of: bundle)
        default: waiting[fact, default: RequestQueue()].insert(key, of: bundle)
        }
    }

    /// Sets everything of a bundle aside that was about to have its turn.
    mutating func holdBundle(_ bundle: Int) {
        guard let keys = open.take(bundle) else { return }
        waitingForBundle.give(keys, to: bundle)
    }

    /// Everything that waited for the fact may have its turn.
    mutating func release(_ fact: Fact) {
        switch fact {
        case .scores:
            open.absorb(waitingForScore)
            waitingForScore = RequestQueue()
        default:
            if let queue = waiting.removeValue(forKey: fact) { open.absorb(queue) }
        }
    }

    /// Everything of a bundle that waited for what is remembered of it may have its turn.
    mutating func releaseBundle(_ bundle: Int) {
        if let keys = waitingForBundle.take(bundle) { open.give(keys, to: bundle) }
        if let keys = waitingForScore.take(bundle) { open.give(keys, to: bundle) }
    }

    /// The next key whose date has come; it is taken out.
    mutating func popDue(_ now: WallTime) -> RequestKey? {
        if let first = dates.min, first.time <= now { return dates.removeMin() }
        if let first = unjudged.min, first.time <= now { return unjudged.removeMin() }
        return nil
    }

    /// Takes out every key with a date.
    mutating func takeDates() -> [RequestKey] {
        defer { (dates, unjudged) = ([], []) }
        return dates.unordered + unjudged.unordered
    }

    /// The first date of those that were judged.
    mutating func firstDate(standing: (RequestKey) -> Bool) -> WallTime? {
        while let key = dates.min {
            if standing(key) { return key.time }
            dates.removeMin()
        }
        return nil
    }

    /// The first of those that were not judged.
    mutating func firstUnjudged(standing: (RequestKey) -> Bool) -> RequestKey? {
        while let key = unjudged.min {
            if standing(key) { return key }
            unjudged.removeMin()
        }
        return nil
    }

    mutating func removeFirstUnjudged() { unjudged.removeMin() }

    /// The next candidate, of a bundle that is not to be avoided.
    mutating func first(avoiding bundles: [Int], standing: (RequestKey) -> Bool) -> RequestQueue.Top? {
        open.first(standing: standing, avoiding: bundles)
    }

    mutating func remove(_ top: RequestQueue.Top) { open.remove(top) }

    /// Forgets the keys of requests that moved on.
    mutating func compact(standing: (RequestKey) -> Bool) {
        open.compact(standing: standing)
        waitingForBundle.compact(standing: standing)
        waitingForScore.compact(standing: standing)
        for fact in Array(waiting.keys) {
            waiting[fact]?.compact(standing: standing)
            if waiting[fact]?.count == 0 { waiting[fact] = nil }
        }
        dates = Heap(dates.unordered.filter(standing))
        unjudged = Heap(unjudged.unordered.filter(standing))
    }
}
