import Synchronization

/// Tells whoever listens at the moment that a file may have changed.
///
/// Not one stream for all: a stream ends for everybody when a task that reads it is cancelled.
final class ChangeSignal: Sendable {
    private let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// A stream for the next listener; the one before hears nothing more.
    func listen() -> AsyncStream<Void> {
        let (stream, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.withLock { $0 = sink }
        return stream
    }

    /// Tells it.
    func tell() { listener.withLock { _ = $0?.yield() } }
}
