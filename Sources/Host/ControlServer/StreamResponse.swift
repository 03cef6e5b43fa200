import ControlWire
import Hummingbird
import NIOCore
import ServiceLifecycle
import TaskModel

extension Response {
    /// A response that lasts until its queue ends, the client closes its end, or the server stops.
    ///
    /// - Parameters:
    ///   - frames: What to send, from the queue.
    ///   - queue: Where heartbeats go in.
    ///   - lines: What comes before everything in the queue, which has no room for that many.
    ///   - request: The request that it answers.
    ///   - context: Its connection.
    /// - Returns: The response.
    static func stream(
        _ frames: AsyncStream<StreamFrame>, of queue: FrameQueue, after lines: [LogLine] = [],
        to request: Request, _ context: ControlContext
    ) -> Response {
        let channel = context.channel
        let body = ResponseBody { writer in
            defer { queue.finish() }
            // Only while a client listens does anything wake up for it.
            let period = TimeAmount.seconds(ControlProtocol.heartbeatSeconds)
            let heartbeat = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
                queue.put(.heartbeat, isDispensable: true)
            }
            defer { heartbeat.cancel() }
            try await request.body.consumeWithInboundCloseHandler { _ in
                // What waits already is still written at a shutdown: the host's last event is among it.
                try await withGracefulShutdownHandler {
                    // At once: a client knows from it that nothing after this is missed.
                    try await writer.write(StreamFrame.opening)
                    for line in lines { try await writer.write(try StreamFrame.text(of: line)) }
                    for await frame in frames {
                        guard let text = try? frame.text() else { break }
                        try await writer.write(text)
                    }
                } onGracefulShutdown: {
                    queue.finish()
                }
            } onInboundClosed: {
                queue.finish()
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"],
            body: body)
    }
}
