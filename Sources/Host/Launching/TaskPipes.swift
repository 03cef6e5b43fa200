import LinuxSystem
import NIOCore
import NIOPosix

/// The read end of a pipe that is not read yet; closes the descriptor unless ``release()`` was called.
final class OwnedPipe {
    private var descriptor: CInt?

    /// Takes ownership of the descriptor.
    init(taking descriptor: CInt) { self.descriptor = descriptor }

    deinit { if let descriptor { _ = OwnedDescriptor(taking: descriptor) } }

    /// Gives up ownership of the descriptor.
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

    /// Starts to read; call this on the event loop.
    ///
    /// - Parameters:
    ///   - descriptor: The read end of the pipe; the reader closes it.
    ///   - loop: The event loop on which both callbacks run.
    ///   - receive: Called with bytes, which are valid only during the call.
    ///   - ended: Called once, after the last bytes.
    /// - Returns: The channel, when it has been created; closing it ends reading.
    static func read(
        _ descriptor: CInt, on loop: any EventLoop,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        ended: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<any Channel> {
        loop.assertInEventLoop()
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
        // A pipe that can't be read is treated as if it had ended.
        context.close(promise: nil)
    }
}

extension Channel {
    /// Reads the pipe in small parts from now on, so that each makes only a little work: our choice, two
    /// pages.
    func readLittle() {
        // An error means that the channel is closed.
        try? syncOptions?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8192))
        try? syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    }

    /// Ends reading of the pipe for a while, or begins it again.
    ///
    /// When all writers have closed the pipe, NIO reads it to its end all the same.
    func setReading(_ isReading: Bool) {
        try? syncOptions?.setOption(.autoRead, value: isReading)
    }
}
