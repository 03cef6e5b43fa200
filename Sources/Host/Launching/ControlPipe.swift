import LinuxSystem
import NIOCore
import NIOPosix

/// Sends the host's frames to a task: stores them until the task's pipe exists, and never blocks.
///
/// All methods run on its event loop. Bytes that the task does not read stay in memory; the caller must limit
/// ``waitingBytes``.
final class ControlPipe: @unchecked Sendable {
    // Unchecked: everything is touched on `loop` only.
    private let loop: any EventLoop
    /// The pipe, while the task reads fast enough.
    private var pipe: PipeEnd?
    /// Writes the waiting bytes in the background, from the first time that the pipe is full.
    private var channel: (any Channel)?
    private var waiting: [UInt8] = []
    private var isClosed = false
    /// The number of bytes that the channel has not written yet.
    private var bytesInChannel = 0

    /// Creates a sender whose pipe does not exist yet.
    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// The number of bytes that the pipe has not accepted yet.
    var waitingBytes: Int {
        loop.assertInEventLoop()
        return waiting.count + bytesInChannel
    }

    /// The first waiting bytes, at most `count`; the launcher process writes them into the pipe it creates.
    func first(_ count: Int) -> [UInt8] {
        loop.assertInEventLoop()
        return Array(waiting.prefix(count))
    }

    /// Connects the pipe, and writes the bytes that wait.
    ///
    /// - Parameters:
    ///   - descriptor: The write end of the pipe; this object closes it.
    ///   - given: How many bytes of ``first(_:)`` are in the pipe already.
    func open(_ descriptor: CInt, given: Int) {
        loop.assertInEventLoop()
        let end = OwnedDescriptor(taking: descriptor)
        guard !isClosed else { return }
        waiting.removeFirst(min(given, waiting.count))
        pipe = PipeEnd(taking: end)
        flush()
    }

    /// Writes bytes as soon as the pipe has room for them.
    func send(_ bytes: [UInt8]) {
        loop.assertInEventLoop()
        guard !isClosed else { return }
        if let channel { return write(bytes, to: channel) }
        waiting += bytes
        flush()
    }

    /// Closes the write end of the pipe; bytes that still wait are lost.
    func close() {
        loop.assertInEventLoop()
        isClosed = true
        pipe = nil
        channel?.close(promise: nil)
        channel = nil
    }

    private func flush() {
        guard pipe != nil, !waiting.isEmpty else { return }
        // If the task has closed its end, the write fails. No answer is needed, because a deadline ends the
        // task.
        let count = (try? pipe?.write(waiting[...])) ?? waiting.count
        waiting.removeFirst(count)
        if !waiting.isEmpty { drain() }
    }

    /// Gives the pipe to a channel, which writes the waiting bytes when the task has read enough.
    private func drain() {
        guard let end = pipe.take() else { return }
        let descriptor = end.release().release()
        let opened = NIOPipeBootstrap(group: loop).takingOwnershipOfDescriptor(output: descriptor)
        opened.whenComplete { [self] result in
            switch result {
            case .success(let channel) where !isClosed:
                self.channel = channel
                let bytes = waiting
                waiting = []
                write(bytes, to: channel)
            case .success(let channel):
                channel.close(promise: nil)
            case .failure:
                // The task notices that its control pipe is closed, and stops as if the host had expired it.
                _ = OwnedDescriptor(taking: descriptor)
                waiting = []
            }
        }
    }

    private func write(_ bytes: [UInt8], to channel: any Channel) {
        bytesInChannel += bytes.count
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenComplete { [self] _ in
            bytesInChannel -= bytes.count
        }
    }
}
