import ControlWire
import FoundationEssentials
import Hummingbird
import NIOCore
import ServiceLifecycle
import TaskModel

/// Server-sent events: what happens in the host, and its log.
struct StreamRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.get("events") { request, context in
            let events = await host.events()
            return respond(to: request, context: context, with: events, isDispensable: \.isDispensable) {
                event in
                let message = HostEventMessage(event)
                return try StreamFrame.event(message.name, message)
            }
        }
        routes.get("log", query: [.follow]) { request, context in
            let lines = try await host.log(following: ClientText.flag(.follow, request.query(.follow)))
            return respond(to: request, context: context, with: lines, isDispensable: { _ in false }) {
                line in
                try StreamFrame.event("line", LogLineMessage(line))
            }
        }
    }

    /// A response that lasts as long as the values, or until the client closes its end.
    func respond<Value: Sendable>(
        to request: Request, context: ControlContext, with values: AsyncStream<Value>,
        isDispensable: @escaping @Sendable (Value) -> Bool,
        encode: @escaping @Sendable (Value) throws -> ByteBuffer
    ) -> Response {
        let channel = context.channel
        let limit = limits.waitingEvents
        let body = ResponseBody { writer in
            let (frames, continuation) = AsyncStream.makeStream(
                of: ByteBuffer.self, bufferingPolicy: .bufferingOldest(limit))
            // One frame at once: a client knows from it that nothing after this is missed.
            continuation.yield(StreamFrame.opening)
            // Only while a client listens does anything wake up for it.
            let period = TimeAmount.seconds(ControlProtocol.heartbeatSeconds)
            let heartbeat = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
                continuation.yield(StreamFrame.heartbeat)
            }
            defer { heartbeat.cancel() }
            let forwarding = Task {
                // Apart from the writer, so that a client that does not read can be told from one that does.
                for await value in values {
                    guard let frame = try? encode(value) else { break }
                    if case .enqueued = continuation.yield(frame) { continue }
                    if !isDispensable(value) { break }
                }
                continuation.finish()
            }
            defer { forwarding.cancel() }
            try await request.body.consumeWithInboundCloseHandler { _ in
                // What waits already is still written at a shutdown: the host's last event is among it.
                try await withGracefulShutdownHandler {
                    for await frame in frames {
                        try await writer.write(frame)
                    }
                } onGracefulShutdown: {
                    continuation.finish()
                }
            } onInboundClosed: {
                continuation.finish()
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"],
            body: body)
    }
}

/// The text of server-sent events (WHATWG HTML, section 9.2).
enum StreamFrame {
    static let opening = ByteBuffer(string: ": bgtask\n\n")
    static let heartbeat = ByteBuffer(string: ": alive\n\n")

    /// One event; JSON on one line has no line break that would end the field.
    static func event(_ name: String, _ message: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(name)\ndata: ")
        buffer.writeBytes(try ControlJSON.line(message))
        buffer.writeString("\n\n")
        return buffer
    }
}
