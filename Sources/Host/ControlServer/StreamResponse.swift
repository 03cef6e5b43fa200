import ControlWire
import Hummingbird
import NIOCore
import ServiceLifecycle
import TaskModel

extension Response {
    /// Creates a response that lasts until its queue ends, the client closes the connection, or the server
    /// stops.
    ///
    /// - Parameters:
    ///   - frames: The frames of the queue, which are sent.
    ///   - queue: The queue, to which heartbeats are added.
    ///   - lines: Log lines that are sent before the frames, because they may be too many for the queue.
    ///   - request: The request to answer.
    ///   - context: The context of the request.
    /// - Returns: The response.
    static func stream(
        _ frames: AsyncStream<StreamFrame>, of queue: FrameQueue, after lines: [LogLine] = [],
        to request: Request, _ context: ControlContext
    ) -> Response {
        let channel = context.channel
        let body = ResponseBody { writer in
            defer { queue.finish() }
            // The timer exists only while a client listens, so that an idle host never wakes up.
            let period = TimeAmount.seconds(ControlProtocol.heartbeatSeconds)
            let heartbeat = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
                queue.put(.heartbeat, isDispensable: true)
            }
            defer { heartbeat.cancel() }
            try await request.body.consumeWithInboundCloseHandler { _ in
                // At a shutdown, the waiting frames are still written, because the host's last event is one
                // of them.
                try await withGracefulShutdownHandler {
                    // Sent at once, because it shows the client that it will not miss any later event.
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
