import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// Follows one request for `--wait`: it writes a live line on a terminal, plain lines elsewhere, and one JSON
/// object with `--json`.
struct RequestWatch {
    let client: ControlClient
    let console: Console
    let events: AsyncThrowingStream<HostEventMessage, any Error>
    let request: RequestID
    let identifier: TaskIdentifier
    /// Whether the command ends with the attempt that runs now, even if another one follows.
    var isOneAttempt = false

    private enum Input: Sendable {
        case event(HostEventMessage)
        case failed(any Error)
        case ended
        case shouldHaveStarted
        case successorIsMissing
        case tick
    }

    /// The output of `--wait --json`.
    private struct Answer: Encodable {
        var request: RequestID
        var identifier: TaskIdentifier
        @Explicit var launch: LaunchMessage?
        @Explicit var outcome: Outcome?
        @Explicit var reason: Reason?
        @Explicit var replacedBy: RequestID?
        @Explicit var next: Next?
    }

    /// The attempt that follows after the one that the command waited for.
    private struct Next: Codable, Equatable, Sendable {
        var attempt: Int
        @Explicit var notBefore: Timestamp?
    }

    /// Starts following the events of the host, for people together with what the handler of a task prints.
    static func events(
        of identifier: TaskIdentifier, _ client: ControlClient, _ console: Console
    ) async throws -> AsyncThrowingStream<HostEventMessage, any Error> {
        console.json ? try await client.events() : try await client.events(withOutputOf: identifier)
    }

    /// Follows the request to the end of its last attempt.
    ///
    /// - Parameters:
    ///   - begun: A launch of the request that is already running.
    ///   - mayHaveBegun: Whether the host may have known the request before, so that its events may lie in
    ///     the past.
    /// - Throws: `ExitCode(1)` for any outcome but `succeeded`; ``ControlClientError`` if the connection
    ///   breaks.
    func follow(from begun: LaunchMessage? = nil, mayHaveBegun: Bool = false) async throws {
        var story = RequestStory(
            request: request, showsProgress: !console.isLive, isOneAttempt: isOneAttempt)
        story.times = console.times
        if isOneAttempt { story.retryAttempts = try await retryAttempts() }
        // The command has already reported the start, so only the lines after it are shown.
        if let begun { try show(Array(story.begin(begun).dropFirst()), story) }
        if mayHaveBegun { try await catchUp(&story) }
        // If the request has already ended, no more events will come.
        if story.end == nil { try await follow(&story) }
        try clear()
        try conclude(story)
    }

    /// Handles events until the story has an end.
    private func follow(_ story: inout RequestStory) async throws {
        let (inputs, sink) = AsyncStream.makeStream(of: Input.self)
        let feeders = feed(sink)
        defer { for feeder in feeders { feeder.cancel() } }
        var tick = 0
        var isLate = false
        var isReplaced = false
        for await input in inputs {
            let now = console.now
            switch input {
            case .event(.requestBlocked(let blocked, let verdicts)) where blocked.request == request:
                // For the first second it is normal that no attempt has started, so nothing is reported.
                guard isLate else { continue }
                try show(story.block(verdicts, identifier: identifier, now: now), story)
            case .event(.requestCancelled(request, _, .replaced)):
                // The host sends the acceptance of the newer request next. A listing taken now might not have
                // that request any more.
                isReplaced = true
                Task {
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    sink.yield(.successorIsMissing)
                }
            case .event(.requestAccepted(let newer)) where isReplaced && newer.identifier == identifier:
                try show(story.replace(by: newer.request), story)
            case .successorIsMissing:
                try show(story.replace(by: await successor()), story)
            case .event(let event):
                try show(story.take(event, now: now), story)
            case .shouldHaveStarted:
                isLate = true
                guard story.launch == nil else { continue }
                let pending = try await client.pending(identifier)
                let verdicts = pending?.request.request == request ? pending?.verdicts : nil
                try show(story.block(verdicts ?? [], identifier: identifier, now: now), story)
            case .tick:
                tick += 1
                try show(story.overdue(now: now), story)
                try draw(story, tick: tick)
            case .failed(let error):
                try clear()
                throw error
            case .ended:
                try clear()
                throw ControlClientError.broken(
                    socket: client.socketPath,
                    finding:
                        "it closed the event stream before \(request) had ended; the request stays stored")
            }
            if story.end != nil { break }
        }
    }

    /// Looks for launches before the first event: with an idempotency key, the request may have run already.
    private func catchUp(_ story: inout RequestStory) async throws {
        let launches = try await client.launches(identifier: identifier)
        guard let newest = launches.first(where: { $0.request == request }) else {
            // It may have ended without a launch; an older host can't be asked.
            guard let detail = try? await client.request(request), detail.hasEnded else { return }
            if detail.reason == .replaced {
                try show(story.replace(by: detail.replacedBy), story)
            } else if let reason = detail.reason {
                try show(story.take(.requestCancelled(request, identifier, reason), now: console.now), story)
            }
            return
        }
        if newest.endedAt == nil {
            try show(story.begin(newest), story)
        } else if try await client.pending(identifier)?.request.request != request {
            try show(story.finish(newest, putBack: nil), story)
        }
    }

    /// The largest number of attempts after failures, as the manifest says; `nil` if it says nothing.
    private func retryAttempts() async throws -> Int? {
        let tasks = try await client.plugins().plugins.flatMap(\.tasks)
        return tasks.filter { $0.identifier.matches(identifier) }
            .min { !$0.identifier.isWildcard && $1.identifier.isWildcard }?.retryAttempts
    }

    /// The newer request that replaced this one; `nil` if it was cancelled before it was launched.
    private func successor() async throws -> RequestID? {
        if let newer = try await client.pending(identifier)?.request.request, newer > request { return newer }
        return try await client.launches(identifier: identifier).map(\.request).filter { $0 > request }.max()
    }

    /// Puts all inputs into one stream: events, the end of the first second, and the times to draw the bar.
    private func feed(_ sink: AsyncStream<Input>.Continuation) -> [Task<Void, Never>] {
        var feeders = [
            Task { [events] in
                do {
                    for try await event in events { sink.yield(.event(event)) }
                    sink.yield(.ended)
                } catch {
                    sink.yield(.failed(error))
                }
            },
            Task {
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                sink.yield(.shouldHaveStarted)
            },
        ]
        if !console.json {
            let period = Duration.milliseconds(console.isLive ? 250 : 1000)
            feeders.append(
                Task {
                    while (try? await Task.sleep(for: period)) != nil { sink.yield(.tick) }
                })
        }
        return feeders
    }

    private func show(_ lines: [String], _ story: RequestStory) throws {
        guard !console.json, !lines.isEmpty else { return }
        try clear()
        for line in lines { try console.line(Printable.text(line)) }
        try draw(story, tick: 0)
    }

    private func draw(_ story: RequestStory, tick: Int) throws {
        guard console.isLive else { return }
        let now = console.now
        guard let bar = ProgressBar.line(story, now: now, tick: tick, width: console.width ?? 80) else {
            return
        }
        try console.write("\r\u{1B}[K" + bar)
    }

    private func clear() throws {
        if console.isLive { try console.write("\r\u{1B}[K") }
    }

    private func conclude(_ story: RequestStory) throws {
        let outcome: Outcome?
        let reason: Reason?
        var replacedBy: RequestID?
        var next: Next?
        switch story.end {
        case .ended(let launch): (outcome, reason) = (launch.outcome, launch.reason)
        case .putBack(let launch, let request):
            (outcome, reason) = (launch.outcome, launch.reason)
            next = Next(attempt: request.attempt, notBefore: request.notBefore)
        case .cancelled(let why): (outcome, reason) = (why.outcomeWhilePending, why)
        case .replaced(let newer): (outcome, reason, replacedBy) = (.cancelled, .replaced, newer)
        case .hostStopping, nil:
            throw ControlClientError.broken(
                socket: client.socketPath,
                finding:
                    "it is stopping; \(request) stays stored, and can run when the host has started again")
        }
        if console.json {
            var answer = Answer(request: request, identifier: identifier)
            answer.launch = story.launch
            answer.outcome = outcome
            answer.reason = reason
            answer.replacedBy = replacedBy
            answer.next = next
            try console.print(json: answer)
        }
        if outcome != .succeeded { throw ExitCode(1) }
    }
}
