import HostCore
import TaskModel

/// The writes that wait for the next commit of the store.
///
/// One commit at most is under way. The writes that arrive meanwhile share the next one.
struct WaitingWrites {
    private var tickets: [StoreTicket] = []
    private var writes: [StoreWrite] = []
    private var isCommitting = false

    /// Adds a write to the next commit.
    mutating func add(_ write: StoreWrite, _ ticket: StoreTicket) {
        tickets.append(ticket)
        writes.append(write)
    }

    /// Begins a commit of all writes that wait.
    ///
    /// - Returns: The writes and their tickets; `nil` if none waits or a commit is under way.
    mutating func begin() -> (tickets: [StoreTicket], writes: [StoreWrite])? {
        guard !isCommitting, !writes.isEmpty else { return nil }
        isCommitting = true
        defer { (tickets, writes) = ([], []) }
        return (tickets, writes)
    }

    /// Notes that the commit has ended, so that the next one may begin.
    mutating func end() { isCommitting = false }
}
