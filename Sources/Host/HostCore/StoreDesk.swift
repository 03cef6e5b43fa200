import TaskModel

/// Who asked for a submission.
enum Submitter: Sendable {
    /// A caller of the control API.
    case call(CallID)
    /// A handler that runs; answered under its own number of the call.
    case handler(LaunchID, call: UInt64)
    /// A caller of `bgtask launch`.
    case simulation(CallID, debug: Bool)
    /// The host itself, for an app with this library.
    case installation(BundleIdentifier, libraryHash: String)
    /// The schedule of a manifest.
    case schedule
}

/// What the core goes on with when the store has answered a write.
enum StoreErrand: Sendable {
    /// A submission under the number that it gets; `client` runs it itself.
    case accept(Submitter, TaskIdentifier, RequestID, client: ClientID?)
    /// The start of a launch.
    case begin(RequestID)
    /// A cancellation.
    case cancel(RequestID, Reason, Canceller)
    /// The record of an expiration.
    case markExpiring(LaunchID)
    /// The record that a user cancelled a running launch; the asker of this number waits for it.
    case markCancelled(LaunchID, Int)
    /// A checkpoint.
    case checkpoint(LaunchID, CallID?)
    /// The end of a launch.
    case end(EndedLaunch)
    /// The state of a bundle.
    case bundle(BundleIdentifier)
    /// Another fact, named for the log.
    case fact(String)
}

/// Who waits for a cancellation.
enum Canceller: Sendable {
    /// No caller waits for the answer.
    case host
    /// One of several that an asker waits for; see ``CancellationBook``.
    case asker(Int)
}

/// Writes that the store has not answered.
struct StoreDesk: Sendable {
    private var last = 0
    private var errands: [StoreTicket: StoreErrand] = [:]

    var isEmpty: Bool { errands.isEmpty }

    mutating func enter(_ errand: StoreErrand) -> StoreTicket {
        last += 1
        let ticket = StoreTicket(rawValue: last)
        errands[ticket] = errand
        return ticket
    }

    mutating func take(_ ticket: StoreTicket) -> StoreErrand? { errands.removeValue(forKey: ticket) }
}

/// Cancellations of several requests that one asker waits for.
struct CancellationBook: Sendable {
    /// Who waits.
    enum Asker: Sendable {
        case call(CallID)
        case handler(LaunchID, call: UInt64)
    }

    /// One asker's requests.
    struct Entry: Sendable {
        let asker: Asker
        let target: String
        var requests: Set<RequestID>
        /// Running launches whose cancellation the store has not recorded.
        var marks: Set<LaunchID>
        var cancelled: [RequestID] = []
        var launches: [LaunchID]
        var problem: SubmissionError?
    }

    private var last = 0
    private var entries: [Int: Entry] = [:]

    mutating func enter(_ entry: Entry) -> Int {
        last += 1
        entries[last] = entry
        return last
    }

    /// Takes in what the store answered.
    ///
    /// - Returns: The entry, if nothing of it is open any more; it is gone then.
    mutating func settle(_ number: Int, _ change: (inout Entry) -> Void) -> Entry? {
        guard var entry = entries[number] else { return nil }
        change(&entry)
        let isSettled = entry.requests.isEmpty && entry.marks.isEmpty
        entries[number] = isSettled ? nil : entry
        return isSettled ? entry : nil
    }
}
