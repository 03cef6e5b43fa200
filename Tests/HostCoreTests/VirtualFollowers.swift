import TaskModel

@testable import HostCore

/// The followers of a host's events, from its start to its end, and what the events must contain.
struct VirtualFollowers {
    /// Requests that the followers know: pending when the host began, or accepted since.
    private var known: Set<RequestID> = []
    /// Requests that the store has accepted since the host began.
    var stored: Set<RequestID> = []
    /// Launches that began according to the events, but have not ended.
    private(set) var open: Set<LaunchID> = []
    private var ended: Set<LaunchID> = []
    /// Requests that are finished according to the events.
    private(set) var over: Set<RequestID> = []
    /// Launches that the host has asked to stop.
    private(set) var expiring: Set<LaunchID> = []
    /// The policies that keep each request waiting, according to the last event.
    private(set) var blocked: [RequestID: [String]] = [:]

    init() {}

    init(pending: [TaskRequest]) { known = Set(pending.map(\.id)) }

    mutating func take(_ event: HostEvent, _ core: HostCore) throws {
        switch event {
        case .requestAccepted(let request):
            guard known.insert(request.id).inserted else {
                throw BrokenPromise("that \(request.id) was accepted is published twice")
            }
        case .requestBlocked(let request, let verdicts):
            guard core.requests.pending[request.id] != nil, core.requests.starting[request.id] == nil else {
                throw BrokenPromise("\(request.id) is said to be kept, and does not wait")
            }
            blocked[request.id] = verdicts.map(\.policy)
        case .requestCancelled(let id, _, _):
            guard known.contains(id), over.insert(id).inserted else {
                throw BrokenPromise("the cancellation of \(id) is published twice, or before it was accepted")
            }
        case .launchStarted(let record):
            guard known.contains(record.request), !over.contains(record.request) else {
                throw BrokenPromise("\(record.id) is said to start, and \(record.request) does not wait")
            }
            open.insert(record.id)
            blocked[record.request] = nil
        case .launchExpiring(let id, _, _): expiring.insert(id)
        case .launchEnded(let record, let putBack):
            open.remove(record.id)
            guard ended.insert(record.id).inserted else {
                throw BrokenPromise("the end of \(record.id) is published twice")
            }
            if putBack == nil, core.unsavedEnds.allSatisfy({ $0.ended.id != record.id }) {
                over.insert(record.request)
            }
        case .launchReady, .progress, .titleChanged, .launchAsked, .transferChanged, .transferEnded,
            .hostStopping:
            return
        }
    }

    /// Checks that the events are complete when nothing is in progress.
    func checkComplete() throws {
        if let id = open.first { throw BrokenPromise("the end of \(id) was never published") }
        if let id = stored.subtracting(known).first {
            throw BrokenPromise("that \(id) was accepted was never published")
        }
    }
}
