/// Decides which connections of the control socket keep their places when there are too many.
///
/// A client that follows events or a log keeps its place for as long as it likes, so only some places are for
/// followers. The other places are for requests that the host answers at once. If they run out, a connection
/// is closed that has its answer, or else the one that has waited longest without sending a complete request.
/// So clients that only hold connections can't keep a command from its answer.
struct ConnectionBook<Key: Hashable> {
    /// The greatest number of connections.
    let places: Int
    /// How many of them followers may have.
    let followerPlaces: Int

    private enum Use {
        /// No complete request has arrived yet.
        case waiting
        /// The last request was answered, and no complete one has arrived since.
        case idle
        /// The host is answering a request.
        case answering
        /// The host has been answering for a long time, or the client does not read the answer.
        case overdue
        /// The client follows a stream; the number is that of its process.
        case following(process: Int32)
        /// The connection is being closed.
        case leaving
    }

    private var uses: [Key: (use: Use, turn: Int)] = [:]
    private var turns = 0
    private var newest: Key?

    /// Creates a book without connections.
    ///
    /// - Parameters:
    ///   - places: The greatest number of connections.
    ///   - followerPlaces: How many of them followers may have; less than `places`.
    init(places: Int, followerPlaces: Int) {
        (self.places, self.followerPlaces) = (places, followerPlaces)
    }

    /// The number of followers.
    var followers: Int { uses.values.count { if case .following = $0.use { true } else { false } } }

    /// Adds a new connection.
    mutating func open(_ key: Key) {
        set(key, .waiting)
        newest = key
    }

    /// Removes a connection that is closed.
    mutating func close(_ key: Key) { uses[key] = nil }

    /// Notes that a complete request has arrived; a follower remains one.
    mutating func begin(_ key: Key) {
        switch uses[key]?.use {
        case .waiting, .idle: change(key, .answering)
        case .answering, .overdue, .following, .leaving, nil: break
        }
    }

    /// Notes that the answer to the last request has been sent.
    mutating func end(_ key: Key) { change(key, .idle) }

    /// Notes that an answer takes long; this does not concern followers.
    mutating func lapse(_ key: Key) {
        guard case .answering = uses[key]?.use else { return }
        change(key, .overdue)
    }

    /// Gives a connection one of the places of followers.
    ///
    /// - Throws: ``NoPlace`` if they are all taken.
    mutating func follow(_ key: Key, process: Int32) throws(NoPlace) {
        var held: [Int32: Int] = [:]
        for (use, _) in uses.values {
            if case .following(let process) = use { held[process, default: 0] += 1 }
        }
        guard held.values.reduce(0, +) < followerPlaces else {
            let most = held.max { ($0.value, $1.key) < ($1.value, $0.key) }
            throw NoPlace(limit: followerPlaces, process: most?.key ?? 0, held: most?.value ?? 0)
        }
        change(key, .following(process: process))
    }

    /// Why a client may not follow.
    struct NoPlace: Error, Equatable {
        /// The number of places of followers.
        var limit: Int
        /// The process that has the most places, and how many.
        var process: Int32, held: Int
    }

    /// The connection to close now, so that the next client finds a place; `nil` if there is room, or if
    /// every connection is in use.
    mutating func relief() -> Key? {
        let leaving = uses.values.count { if case .leaving = $0.use { true } else { false } }
        guard uses.count - leaving >= places else { return nil }
        // The request of the newest connection may be on its way. It has a place already.
        let chosen =
            oldest { if case .idle = $0 { true } else { false } }
            ?? oldest { if case .waiting = $0 { true } else { false } }
            ?? oldest { if case .overdue = $0 { true } else { false } }
        if let chosen { change(chosen, .leaving) }
        return chosen
    }

    private func oldest(_ matches: (Use) -> Bool) -> Key? {
        uses.filter { $0.key != newest && matches($0.value.use) }.min { $0.value.turn < $1.value.turn }?.key
    }

    private mutating func set(_ key: Key, _ use: Use) {
        turns += 1
        uses[key] = (use, turns)
    }

    private mutating func change(_ key: Key, _ use: Use) {
        // A connection that is being closed stays so, whatever still arrives from it.
        guard let old = uses[key] else { return }
        if case .leaving = old.use { return }
        set(key, use)
    }
}
