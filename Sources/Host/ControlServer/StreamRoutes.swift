import Hummingbird
import TaskModel

/// The routes of server-sent events: the host's events and its log.
struct StreamRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits
    let events: EventFeed

    func add(to routes: RouteTable) {
        routes.get("events") { request, context in
            let (queue, frames) = FrameQueue.make(limit: limits.waitingEvents)
            events.add(queue)
            return .stream(frames, of: queue, to: request, context)
        }
        routes.get("log", query: [.follow]) { request, context in
            let (queue, frames) = FrameQueue.make(limit: limits.waitingEvents)
            let remembered: [LogLine]
            if try ClientText.flag(.follow, request.query(.follow)) {
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
