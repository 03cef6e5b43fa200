import ControlWire
import Hummingbird
import LogFiles
import TaskModel

/// The routes of server-sent events: the host's events and its log.
struct StreamRoutes {
    let host: any HostControl
    let connections: Connections
    let events: EventFeed

    func add(to routes: RouteTable) {
        routes.get("events", query: [.only, .output]) { request, context in
            let selection = try request.selection
            if selection == .transferEnds { try request.refuse([.output], beside: .only) }
            let task = try request.query(.output).map(ClientText.identifier)
            try connections.follow(context, subject: request.subject)
            let (queue, frames) = connections.queue(for: context)
            let stop = task.map { output(of: $0, to: queue) }
            events.add(queue, selection) { stop?() }
            return .stream(frames, of: queue, to: request, context)
        }
        routes.get("log", query: [.follow, .launch, .identifier, .since, .until, .limit]) {
            request, context in
            let isFollowing = try ClientText.flag(.follow, request.query(.follow))
            if isFollowing {
                try request.refuse([.launch, .identifier, .since, .until, .limit], beside: .follow)
                try connections.follow(context, subject: request.subject)
            }
            let query = try request.logQuery
            let (queue, frames) = connections.queue(for: context)
            let before: [LogLine]
            if isFollowing {
                let (lines, stop) = host.logs.log { line in
                    guard let line else { return queue.finish() }
                    queue.put(StreamFrame(line), isDispensable: false)
                }
                queue.onEnd(stop)
                before = lines
            } else if let query {
                before = await host.logs.lines(query)
                queue.finish()
            } else {
                before = host.logs.log(following: nil).remembered
                queue.finish()
            }
            return .stream(frames, of: queue, after: before, to: request, context)
        }
    }

    /// Adds what the handlers of a task print and log from now on to a queue.
    ///
    /// It leaves lines out for a client that reads too slowly, because the log has them all.
    ///
    /// - Returns: A function that ends this.
    private func output(of task: TaskIdentifier, to queue: FrameQueue) -> @Sendable () -> Void {
        host.logs.log { line in
            guard let line, line.identifier == task, line.source != .host else { return }
            queue.put(StreamFrame(output: line), isDispensable: true)
        }.stop
    }
}

extension Request {
    /// Which events the request asks for.
    fileprivate var selection: EventFeed.Selection {
        get throws {
            guard let word = query(.only) else { return .usual }
            guard word == "transferEnded" else {
                throw ClientText.invalid(
                    word, "this is not a value of 'only'",
                    remedy: "Write only=transferEnded, or leave it out for all events")
            }
            return .transferEnds
        }
    }

    /// Which lines of the stored log the request asks for; `nil` for those in memory.
    fileprivate var logQuery: LogQuery? {
        get throws {
            let keys: [QueryKey] = [.launch, .identifier, .since, .until, .limit]
            guard keys.contains(where: { query($0) != nil }) else { return nil }
            var lines = LogQuery(
                limit: try ClientText.limit(
                    query(.limit), standard: ControlProtocol.maximumLogLines,
                    most: ControlProtocol.maximumLogLines))
            lines.launch = try query(.launch).map(ClientText.launch)
            lines.identifier = try query(.identifier).map(ClientText.identifier)
            lines.since = try query(.since).map(ClientText.date)
            lines.until = try query(.until).map(ClientText.date)
            return lines
        }
    }
}
