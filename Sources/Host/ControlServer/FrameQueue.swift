/// What waits for one client of a stream: the only queue between the host and the client's connection.
///
/// It is bounded, so that a client that does not read costs the host no more than that. Both ends may be used
/// on any thread; putting something in never waits.
struct FrameQueue: Sendable {
    private let frames: AsyncStream<StreamFrame>.Continuation

    /// Makes a queue.
    ///
    /// - Parameter limit: How many frames wait at most.
    /// - Returns: The queue, and its other end for the one who writes to the client. The queue ends when that
    ///   end is let go.
    static func make(limit: Int) -> (queue: FrameQueue, frames: AsyncStream<StreamFrame>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StreamFrame.self, bufferingPolicy: .bufferingOldest(limit))
        return (FrameQueue(frames: continuation), stream)
    }

    /// Adds a frame.
    ///
    /// In a full queue, a frame that the client can do without is left out. Any other ends the stream after
    /// what waits already, so that the client knows that it has missed something.
    func put(_ frame: StreamFrame, isDispensable: Bool) {
        guard case .dropped = frames.yield(frame), !isDispensable else { return }
        finish()
    }

    /// Ends the stream after what waits already.
    func finish() { frames.finish() }

    /// Runs a closure when the queue has ended; on any thread, once.
    func onEnd(_ body: @escaping @Sendable () -> Void) { frames.onTermination = { _ in body() } }
}
