import DequeModule
import HostCore
import Launching
import Synchronization

/// The inputs that wait for the core; they can be added from any thread.
///
/// One pass over the inbox takes all inputs, including those that are added meanwhile. Therefore, inputs that
/// arrive together wake the host's thread only once.
final class Inbox: Sendable {
    private struct State {
        var inputs: Deque<HostInput> = []
        var isOpen = false
        /// Whether a pass was requested or is under way.
        var isAwaited = false
        var takeIn: (@Sendable () -> Void)?
    }

    private let loop: HostLoop
    private let state = Mutex(State())

    /// Creates an inbox that is closed: it keeps its inputs until it is opened.
    init(on loop: HostLoop) { self.loop = loop }

    /// Sets the function that performs a pass.
    ///
    /// The loop calls it; it must call ``take()`` until that returns `nil`.
    func serve(by takeIn: @escaping @Sendable () -> Void) { state.withLock { $0.takeIn = takeIn } }

    /// Opens the inbox: a pass takes this input first, and then the inputs that were added earlier.
    func open(with input: HostInput) {
        state.withLock {
            $0.inputs.prepend(input)
            $0.isOpen = true
        }
        wake()
    }

    /// Adds an input.
    func put(_ input: HostInput) {
        state.withLock { $0.inputs.append(input) }
        wake()
    }

    /// Adds several inputs, with no other input between them.
    func put(contentsOf inputs: some Sequence<HostInput> & Sendable) {
        state.withLock { $0.inputs.append(contentsOf: inputs) }
        wake()
    }

    /// Adds an input before all others; only for use during a pass, because it requests none.
    func putFirst(_ input: HostInput) { state.withLock { $0.inputs.prepend(input) } }

    /// Removes and returns the first input; `nil` ends the pass.
    func take() -> HostInput? {
        state.withLock { state in
            guard state.isOpen, let next = state.inputs.popFirst() else {
                state.isAwaited = false
                return nil
            }
            return next
        }
    }

    private func wake() {
        let takeIn = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isOpen, !state.isAwaited else { return nil }
            state.isAwaited = true
            return state.takeIn
        }
        if let takeIn { loop.execute(takeIn) }
    }
}
