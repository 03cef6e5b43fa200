import Dispatch
import Synchronization

/// Writes lines to standard error on its own queue, so that a slow reader, such as a paused terminal, delays
/// nothing else.
///
/// Up to 10,000 lines wait. Further lines are dropped, and a message in the output says how many.
public final class StandardErrorLines: Sendable {
    /// The largest number of waiting lines: a few MB, which the busiest host writes in a few seconds.
    static let capacity = 10_000

    private struct State {
        var waiting = 0
        var leftOut = 0
    }

    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "bgtask.log")
    private let write: @Sendable (String) -> Void
    private let aboutLost: @Sendable (Int) -> String

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - write: Writes a text; may block.
    ///   - aboutLost: Makes the text that says how many were dropped, in the form of all others.
    public init(
        write: @escaping @Sendable (String) -> Void = ProcessFacts.writeToStandardError,
        aboutLost: @escaping @Sendable (Int) -> String
    ) {
        (self.write, self.aboutLost) = (write, aboutLost)
    }

    /// Writes a text that ends with a line break, after all earlier ones; callable from any thread, never
    /// blocks.
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
            if leftOut > 0 { write(aboutLost(leftOut)) }
            write(text)
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until all lines are written; for the end of the process.
    ///
    /// - Parameter seconds: The longest wait, because a reader that has stopped must not keep the process
    ///   alive.
    public func flush(seconds: Int = 1) {
        let isDone = DispatchSemaphore(value: 0)
        writer.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + .seconds(seconds))
    }
}
