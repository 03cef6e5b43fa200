/// The frames that wait for one client of a stream: the only queue between the host and that client's
/// connection.
///
/// The queue is bounded, so a client that does not read can't use more of the host's memory. Any thread may
/// use either end. Adding a frame never blocks.
struct FrameQueue: Sendable {
    private let frames: AsyncStream<StreamFrame>.Continuation
    private let onOverflow: @Sendable () -> Void

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of frames that may wait.
    ///   - onOverflow: Called on any thread when the stream ends because the client reads too slowly.
    /// - Returns: The queue, and the sequence of its frames for the response. The queue ends when that
    ///   sequence is released.
    static func make(
        limit: Int, onOverflow: @escaping @Sendable () -> Void = {}
    ) -> (queue: FrameQueue, frames: AsyncStream<StreamFrame>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StreamFrame.self, bufferingPolicy: .bufferingOldest(limit))
        return (FrameQueue(frames: continuation, onOverflow: onOverflow), stream)
    }

    /// Adds a frame.
    ///
    /// If the queue is full, a dispensable frame is left out. Any other frame ends the stream after the
    /// waiting frames, so that the client notices that it has missed something.
    func put(_ frame: StreamFrame, isDispensable: Bool) {
        guard case .dropped = frames.yield(frame), !isDispensable else { return }
        finish()
        onOverflow()
    }

    /// Ends the stream after the waiting frames.
    func finish() { frames.finish() }

    /// Sets the closure that runs once when the queue has ended, on any thread.
    func onEnd(_ body: @escaping @Sendable () -> Void) { frames.onTermination = { _ in body() } }
}
