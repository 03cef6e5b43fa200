import Synchronization

/// Signals to the current listener that a file may have changed.
///
/// Each listener gets its own stream: cancelling a Swift task that reads a shared stream would end it for
/// all.
final class ChangeSignal: Sendable {
    private let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// Returns a stream for a new listener; the previous listener's stream gets no more signals.
    func listen() -> AsyncStream<Void> {
        let (stream, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.withLock { $0 = sink }
        return stream
    }

    /// Signals the listener, if there is one, that a file may have changed.
    func tell() { listener.withLock { _ = $0?.yield() } }
}
