import DequeModule
import HostCore
import Launching
import Synchronization

/// What the host has heard and not taken in yet, from any thread.
///
/// Whatever comes while the host is at work is taken in by the same pass, so a burst wakes its thread once.
final class Inbox: Sendable {
    private struct State {
        var inputs: Deque<HostInput> = []
        var isOpen = false
        /// Whether a pass is on its way, or under way and not at its end.
        var isAwaited = false
        var takeIn: (@Sendable () -> Void)?
    }

    private let loop: HostLoop
    private let state = Mutex(State())

    /// Makes an inbox that only keeps what comes.
    init(on loop: HostLoop) { self.loop = loop }

    /// Says what takes inputs in: called on the loop, and expected to take until nothing is left.
    func serve(by takeIn: @escaping @Sendable () -> Void) { state.withLock { $0.takeIn = takeIn } }

    /// Begins to have inputs taken in: this one first, then those that came earlier.
    func open(with input: HostInput) {
        state.withLock {
            $0.inputs.prepend(input)
            $0.isOpen = true
        }
        wake()
    }

    /// Puts an input in.
    func put(_ input: HostInput) {
        state.withLock { $0.inputs.append(input) }
        wake()
    }

    /// Puts inputs in that stay together.
    func put(contentsOf inputs: some Sequence<HostInput> & Sendable) {
        state.withLock { $0.inputs.append(contentsOf: inputs) }
        wake()
    }

    /// Puts an input before those that wait; for the one who takes them in.
    func putFirst(_ input: HostInput) { state.withLock { $0.inputs.prepend(input) } }

    /// Takes the oldest; `nil` ends the pass.
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
