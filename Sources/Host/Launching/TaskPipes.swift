import LinuxSystem
import NIOCore
import NIOPosix

/// A pipe's read end that is not read yet; closed if it never is.
final class OwnedPipe {
    private var descriptor: CInt?

    /// Takes it over.
    init(taking descriptor: CInt) { self.descriptor = descriptor }

    deinit { if let descriptor { _ = OwnedDescriptor(taking: descriptor) } }

    /// Gives it away.
    func release() -> CInt { descriptor.take() ?? -1 }
}

/// Reads one pipe of a task on the event loop.
final class PipeReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let receive: (UnsafeRawBufferPointer) -> Void
    private var ended: (() -> Void)?

    private init(receive: @escaping (UnsafeRawBufferPointer) -> Void, ended: @escaping () -> Void) {
        self.receive = receive
        self.ended = ended
    }

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - descriptor: The pipe's read end; taken over.
    ///   - loop: Where both callbacks run, and this is called.
    ///   - receive: Gets bytes, valid during its call.
    ///   - ended: Called once, after the last byte.
    /// - Returns: The channel once it is there; closing it ends reading.
    static func read(
        _ descriptor: CInt, on loop: any EventLoop,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        ended: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<any Channel> {
        let opened = NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PipeReader(receive: receive, ended: ended))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
        opened.whenFailure { _ in
            _ = OwnedDescriptor(taking: descriptor)
            ended()
        }
        return opened
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes(receive)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended?()
        ended = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A pipe that can't be read has ended for us.
        context.close(promise: nil)
    }
}
