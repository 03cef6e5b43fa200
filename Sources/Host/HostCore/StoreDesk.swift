import TaskModel

/// The submitter of a request, which gets the result.
enum Submitter: Sendable {
    /// A caller of the control API.
    case call(CallID)
    /// A handler under way; `call` is the handler's own number of its call.
    case handler(LaunchID, call: UInt64)
    /// A caller of `bgtask launch`.
    case simulation(CallID, debug: Bool, learn: Bool)
    /// The host itself, which launches a new or changed app; the hash is that of its library.
    case installation(BundleIdentifier, libraryHash: String)
    /// The schedule of a manifest.
    case schedule
    /// The end of the transfers of a background session.
    case session(SessionBook.Key)
}

/// The purpose of a write, which determines how the core handles the store's answer.
enum StoreErrand: Sendable {
    /// A submission, with the number that the request will have; `client` will run it if it is not `nil`.
    case accept(Submitter, TaskIdentifier, RequestID, client: ClientID?)
    /// The start of a launch.
    case begin(RequestID)
    /// A cancellation.
    case cancel(RequestID, Reason, Canceller)
    /// The record that a launch was asked to stop.
    case markExpiring(LaunchID)
    /// The record that a user cancelled a launch under way; the number is that of an entry in
    /// ``CancellationBook``.
    case markCancelled(LaunchID, Int)
    /// A checkpoint; the call is that of a client, which waits for the answer.
    case checkpoint(LaunchID, CallID?)
    /// The end of a launch.
    case end(EndedLaunch)
    /// The state of a bundle.
    case bundle(BundleIdentifier)
    /// The pause of the host, or its end (`nil`), with the caller that waits for it.
    case pause(CallID, Pause?)
    /// A new transfer, with the caller that waits for it.
    case acceptTransfer(Transfer, CallID)
    /// New transfers of one call, with the caller that waits for them.
    case acceptTransfers([Transfer], CallID)
    /// The state of a transfer that goes on.
    case transfer(TransferID)
    /// The end of a transfer, with the caller that cancelled it; repeated if an earlier write of it failed.
    case endTransfer(Transfer, CallID?, isRepeated: Bool)
    /// The ends of several transfers.
    case endTransfers([Transfer])
    /// A new transfer of a session, with the handler's call that waits for it.
    case beginInSession(Transfer, LaunchID, call: UInt64)
    /// That the delegate of a session has handled the end of a transfer, with the handler's call.
    case told(TransferID, LaunchID, call: UInt64)
    /// Another fact; the text names it in the log.
    case fact(String)
}

/// The origin of a cancellation.
enum Canceller: Sendable {
    /// The host itself; no caller waits for the answer.
    case host
    /// A caller or a handler; the number is that of an entry in ``CancellationBook``.
    case asker(Int)
}

/// The writes that the store has not answered.
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

/// The calls that cancel requests and launches, and wait until all these cancellations are stored.
struct CancellationBook: Sendable {
    /// The caller or handler that waits for the answer.
    enum Asker: Sendable {
        case call(CallID)
        case handler(LaunchID, call: UInt64)
    }

    /// One call, with the cancellations that it waits for.
    struct Entry: Sendable {
        let asker: Asker
        let target: String
        var requests: Set<RequestID>
        /// The launches under way with a cancellation that the store has not recorded.
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

    /// Changes an entry after an answer of the store.
    ///
    /// - Returns: The entry, if no answer is missing any more; it is then removed. Otherwise `nil`.
    mutating func settle(_ number: Int, _ change: (inout Entry) -> Void) -> Entry? {
        guard var entry = entries[number] else { return nil }
        change(&entry)
        let isSettled = entry.requests.isEmpty && entry.marks.isEmpty
        entries[number] = isSettled ? nil : entry
        return isSettled ? entry : nil
    }
}
