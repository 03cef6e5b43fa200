import NIOCore
import NIOHTTP1
import Pushes
import TaskModel

/// One connection of a sender: it reads one request, answers it, and ends.
///
/// There is one deadline for everything up to the whole body, the TLS handshake included. A sender that sends
/// one byte after the other does not extend it.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// The head has not arrived yet.
        case awaitingHead
        /// The head is right, and the body arrives.
        case reading(PushHead, body: [UInt8])
        /// The host decides.
        case deciding
        /// The answer was sent; what still arrives is thrown away.
        case answered
    }

    private let desk: PushDesk
    private var state = State.awaitingHead
    private var timer: Scheduled<Void>?

    init(_ desk: PushDesk) { self.desk = desk }

    func handlerAdded(context: ChannelHandlerContext) {
        desk.open(context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        set(desk.limits.requestSeconds, context) {
            let (handler, context) = bound.value
            handler.answer(
                PushAnswer(
                    PushRefusal(
                        .requestTimedOut, "no whole request arrived in time",
                        remedy: "Connect when the request is ready, and send it at once")), context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        state = .answered
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(PushRefusal) {
            switch (unwrapInboundIn(data), state) {
            case (.head(let head), .awaitingHead):
                state = .reading(try PushHead(head), body: [])
                if head.version == .http1_1, head.headers[canonicalForm: "expect"].contains("100-continue") {
                    let answer = HTTPResponseHead(version: .http1_1, status: .continue)
                    context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
                }
            case (.body(let part), .reading(let head, var body)):
                // The old state is dropped first, so that the array is not copied.
                state = .awaitingHead
                guard body.count + part.readableBytes <= PushBody.greatestSize else {
                    throw PushBody.tooLarge
                }
                body += part.readableBytesView
                state = .reading(head, body: body)
            case (.end, .reading(let head, let body)): try decide(head, body, context)
            case (_, .awaitingHead), (_, .reading), (_, .deciding), (_, .answered): break
            }
        } catch {
            desk.note(error, from: context.channel.remoteAddress?.ipAddress)
            answer(PushAnswer(error), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else { return context.close(promise: nil) }
        answer(
            PushAnswer(
                PushRefusal(
                    .malformedRequest, "the request is not valid HTTP/1.1, or its head is too large",
                    remedy: "Send a head of at most \(PushServer.Limits.headSize) bytes")), context)
    }

    /// The other end has sent everything, and may still wait for its answer.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .awaitingHead = state, (event as? ChannelEvent) == .inputClosed {
            return context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func decide(
        _ head: PushHead, _ body: [UInt8], _ context: ChannelHandlerContext
    ) throws(PushRefusal) {
        let push = try desk.check(head, body)
        timer?.cancel()
        state = .deciding
        desk.begin(context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (desk, loop) = (desk, context.eventLoop)
        let address = context.channel.remoteAddress?.ipAddress
        Task {
            let answer = await desk.deliver(push, from: address)
            loop.execute {
                let (handler, context) = bound.value
                handler.answer(answer, context)
            }
        }
    }

    private func answer(_ answer: PushAnswer, _ context: ChannelHandlerContext) {
        if case .answered = state { return }
        state = .answered
        desk.end(context.channel)
        var headers = answer.headers
        headers.add(name: "content-type", value: "application/json")
        headers.add(name: "content-length", value: "\(answer.body.count)")
        headers.add(name: "connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // Closing at once would reset a connection whose sender still sends, and it would lose the answer.
        let channel = context.channel
        channel.close(mode: .output, promise: nil)
        set(desk.limits.lingerSeconds, context) { channel.close(promise: nil) }
    }

    private func set(
        _ seconds: Int64, _ context: ChannelHandlerContext, _ body: @escaping @Sendable () -> Void
    ) {
        timer?.cancel()
        timer = context.eventLoop.scheduleTask(in: .seconds(seconds), body)
    }
}
