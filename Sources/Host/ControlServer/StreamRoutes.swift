import Hummingbird
import TaskModel

/// The routes of server-sent events: the host's events and its log.
struct StreamRoutes {
    let host: any HostControl
    let connections: Connections
    let events: EventFeed

    func add(to routes: RouteTable) {
        routes.get("events") { request, context in
            try connections.follow(context, subject: request.subject)
            let (queue, frames) = connections.queue(for: context)
            events.add(queue)
            return .stream(frames, of: queue, to: request, context)
        }
        routes.get("log", query: [.follow]) { request, context in
            let isFollowing = try ClientText.flag(.follow, request.query(.follow))
            if isFollowing { try connections.follow(context, subject: request.subject) }
            let (queue, frames) = connections.queue(for: context)
            let remembered: [LogLine]
            if isFollowing {
                let (lines, stop) = host.log { line in
                    guard let line else { return queue.finish() }
                    queue.put(StreamFrame(line), isDispensable: false)
                }
                queue.onEnd(stop)
                remembered = lines
            } else {
                remembered = host.log(following: nil).remembered
                queue.finish()
            }
            return .stream(frames, of: queue, after: remembered, to: request, context)
        }
    }
}
