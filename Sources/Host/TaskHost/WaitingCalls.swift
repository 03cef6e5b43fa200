import HostCore

/// The callers that wait for the host: for its beginning, or for the core's answer to their call.
struct WaitingCalls {
    /// Whether the core has begun, or can't begin; until then calls wait, because the store may contain
    /// launches of an earlier host.
    private(set) var areAdmitted = false
    /// Whether the host has ended; it then refuses all calls.
    private var areRefused = false
    private var awaitingBegin: [CheckedContinuation<Void, Never>] = []
    private var callers: [CallID: CheckedContinuation<HostAnswer, Never>] = [:]
    private var last = 0

    /// Resumes a caller when calls are admitted, which can be at once.
    mutating func awaitAdmission(_ caller: CheckedContinuation<Void, Never>) {
        if areAdmitted { caller.resume() } else { awaitingBegin.append(caller) }
    }

    /// Admits calls, and resumes those that waited for it.
    mutating func admit() {
        areAdmitted = true
        for caller in awaitingBegin { caller.resume() }
        awaitingBegin = []
    }

    /// A number that no other call has.
    mutating func makeID() -> CallID {
        last += 1
        return CallID(rawValue: last)
    }

    /// Stores a caller until its call is answered.
    ///
    /// - Returns: Whether the call may be passed to the core; otherwise the caller was refused.
    mutating func awaitAnswer(to id: CallID, _ caller: CheckedContinuation<HostAnswer, Never>) -> Bool {
        if areRefused { caller.resume(returning: .hostHasStopped) } else { callers[id] = caller }
        return !areRefused
    }

    /// Answers a call.
    mutating func answer(_ id: CallID, with answer: HostAnswer) {
        callers.removeValue(forKey: id)?.resume(returning: answer)
    }

    /// Refuses all calls that wait, and all later ones.
    mutating func refuse() {
        areRefused = true
        admit()
        for caller in callers.values { caller.resume(returning: .hostHasStopped) }
        callers = [:]
    }
}
