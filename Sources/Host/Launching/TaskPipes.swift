import LinuxSystem
import NIOCore
import NIOPosix

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

/// Writes the control pipe of a task on the event loop, never waiting for the task.
///
/// Confined to its event loop. What a task does not read stays here; the caller bounds it by ``waitingBytes``.
final class ControlPipe: @unchecked Sendable {
    // Unchecked: confined to the event loop.
    private var channel: (any Channel)?
    private var early: [ByteBuffer] = []
    private var isClosed = false
    /// Bytes that the pipe has not taken yet.
    private(set) var waitingBytes = 0

    /// Takes over the pipe's write end.
    init(_ descriptor: CInt, on loop: any EventLoop) {
        let opened = NIOPipeBootstrap(group: loop).takingOwnershipOfDescriptor(output: descriptor)
        opened.whenComplete { [self] result in
            switch result {
            case .success(let channel) where !isClosed:
                self.channel = channel
                early.forEach { write($0, to: channel) }
            case .success(let channel):
                channel.close(promise: nil)
            case .failure:
                // The task finds its control pipe closed and expires itself.
                _ = OwnedDescriptor(taking: descriptor)
            }
            early = []
        }
    }

    /// Sends bytes as soon as the pipe takes them.
    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        waitingBytes += bytes.count
        let buffer = ByteBuffer(bytes: bytes)
        if let channel {
            write(buffer, to: channel)
        } else {
            early.append(buffer)
        }
    }

    /// Closes the write end.
    func close() {
        isClosed = true
        channel?.close(promise: nil)
        channel = nil
    }

    private func write(_ buffer: ByteBuffer, to channel: any Channel) {
        let count = buffer.readableBytes
        // A task that has closed its end is killed by its deadline, so a failure needs no answer.
        channel.writeAndFlush(buffer).whenComplete { [self] _ in waitingBytes -= count }
    }
}
