import LinuxSystem
import NIOCore
import NIOPosix

/// What the host says to a task: kept until the task's pipe is there, then written without ever waiting for
/// the task.
///
/// Confined to its event loop. What a task does not read stays here; the caller bounds it by
/// ``waitingBytes``.
final class ControlPipe: @unchecked Sendable {
    // Unchecked: confined to the event loop.
    private let loop: any EventLoop
    /// Where the bytes go while the task reads fast enough.
    private var pipe: PipeEnd?
    /// Drains the pipe of a task that was slow to read, from the first time on.
    private var channel: (any Channel)?
    private var waiting: [UInt8] = []
    private var isClosed = false
    /// Bytes that the channel has not written yet.
    private var bytesInChannel = 0

    /// A pipe that is not there yet.
    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Bytes that the pipe has not taken yet.
    var waitingBytes: Int { waiting.count + bytesInChannel }

    /// What is to be said first, which the maker of the pipe puts into it; as much as goes into `count`
    /// bytes.
    func first(_ count: Int) -> [UInt8] { Array(waiting.prefix(count)) }

    /// The pipe is there.
    ///
    /// - Parameters:
    ///   - descriptor: Its write end; taken over.
    ///   - given: How many bytes of ``first(_:)`` it holds already.
    func open(_ descriptor: CInt, given: Int) {
        let end = OwnedDescriptor(taking: descriptor)
        guard !isClosed else { return }
        waiting.removeFirst(min(given, waiting.count))
        pipe = PipeEnd(taking: end)
        flush()
    }

    /// Sends bytes as soon as the pipe takes them.
    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        if let channel { return write(bytes, to: channel) }
        waiting += bytes
        flush()
    }

    /// Closes the write end.
    func close() {
        isClosed = true
        pipe = nil
        channel?.close(promise: nil)
        channel = nil
    }

    private func flush() {
        guard pipe != nil, !waiting.isEmpty else { return }
        // A task that has closed its end is killed by its deadline, so a failure needs no answer.
        let count = (try? pipe?.write(waiting[...])) ?? waiting.count
        waiting.removeFirst(count)
        if !waiting.isEmpty { drain() }
    }

    /// Leaves the rest to a channel, which writes when the task has read.
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
                // The task finds its control pipe closed and expires itself.
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
