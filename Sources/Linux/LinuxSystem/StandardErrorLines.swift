import Dispatch
import Synchronization

/// Writes lines to standard error from a thread of its own, so that a reader that stalls stops nothing else.
///
/// A terminal may be paused, and a journal may be slow. Up to 10,000 lines wait for it; those that come then
/// are left out, and a line says how many.
public final class StandardErrorLines: Sendable {
    /// How many lines wait at most: some seconds of the fastest host, and a few MB.
    static let capacity = 10_000

    private struct State {
        var waiting = 0
        var leftOut = 0
    }

    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "bgtask.log")
    private let write: @Sendable (String) -> Void

    /// The one of this process.
    public static let shared = StandardErrorLines(write: ProcessFacts.writeToStandardError)

    /// Makes a writer.
    ///
    /// - Parameter write: Writes a text; may block.
    init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes a text that ends with a line break, after those before it; any thread, and never blocks.
    public func append(_ text: String) {
        let leftOut = state.withLock { state -> Int? in
            guard state.waiting < Self.capacity else {
                state.leftOut += 1
                return nil
            }
            state.waiting += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
        guard let leftOut else { return }
        writer.async { [self] in
            if leftOut > 0 { write("... \(leftOut) lines left out: nothing read standard error\n") }
            write(text)
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until everything is written, for the end of the process.
    ///
    /// - Parameter seconds: The longest wait; a stalled reader must not keep the process.
    public func flush(seconds: Int = 1) {
        let isDone = DispatchSemaphore(value: 0)
        writer.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + .seconds(seconds))
    }
}
