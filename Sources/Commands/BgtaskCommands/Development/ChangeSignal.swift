import Synchronization

/// Signals to the current listener that a file may have changed.
///
/// Each listener gets a stream of its own: a shared one ends for all when a task that reads it is cancelled.
final class ChangeSignal: Sendable {
    private let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// A stream for the next listener; the stream before gets nothing more.
    func listen() -> AsyncStream<Void> {
        let (stream, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.withLock { $0 = sink }
        return stream
    }

    /// Signals to the listener, if there is one.
    func tell() { listener.withLock { _ = $0?.yield() } }
}
