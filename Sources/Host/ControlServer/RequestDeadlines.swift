import ControlWire
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not arrive in time, and reports to ``Connections`` what the
/// connection is used for.
///
/// The deadlines are for whole heads and bodies. A client that sends one byte after the other does not extend
/// them.
final class RequestDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private var limits: ControlServer.Limits { connections.limits }
    private var timer: Scheduled<Void>?
    /// The number of requests whose answers are not complete.
    private var unanswered = 0
    /// Whether the connection has ended.
    ///
    /// Its event loop may be gone, so nothing may be scheduled any more.
    private var isOver = false

    init(_ connections: Connections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        connections.open(context.channel)
        awaitHead(for: limits.requestSeconds, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        isOver = true
        timer?.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        switch unwrapInboundIn(data) {
        case .head:
            unanswered += 1
            set(limits.requestSeconds, context) { channel.close(promise: nil) }
        case .body:
            break
        case .end:
            let connections = connections
            guard unanswered > 0 else { break }
            connections.begin(channel)
            set(limits.answerSeconds, context) { connections.lapse(channel) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered -= 1
            if unanswered <= 0 {
                connections.end(context.channel)
                awaitHead(for: limits.idleSeconds, context)
            }
        }
        context.write(data, promise: promise)
    }

    private func awaitHead(for seconds: Int64, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        set(seconds, context) {
            let (handler, context) = bound.value
            handler.refuse(seconds, context)
        }
    }

    /// Answers that no request arrived in time, and closes the connection.
    private func refuse(_ seconds: Int64, _ context: ChannelHandlerContext) {
        let message = ErrorMessage(
            .requestTimedOut, subject: "connection",
            finding: "no complete request arrived within \(seconds) s",
            remedy: "Connect when the request is ready, and send it at once")
        guard let body = try? ControlJSON.line(message) else { return context.close(promise: nil) }
        let head = HTTPResponse(
            status: .requestTimeout,
            headerFields: [
                .contentType: "application/json", .connection: "close", .contentLength: "\(body.count)",
            ])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    private func set(
        _ seconds: Int64, _ context: ChannelHandlerContext, _ body: @escaping @Sendable () -> Void
    ) {
        timer?.cancel()
        if isOver { return }
        timer = context.eventLoop.scheduleTask(in: .seconds(seconds), body)
    }
}
