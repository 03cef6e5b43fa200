import LinuxSystem
import NIOCore
import Synchronization

/// The read end of a pipe that is not read yet; closes the descriptor unless ``release()`` was called.
final class OwnedPipe {
    private var descriptor: CInt?

    /// Takes ownership of the descriptor.
    init(taking descriptor: CInt) { self.descriptor = descriptor }

    deinit { if let descriptor { _ = OwnedDescriptor(taking: descriptor) } }

    /// Gives up ownership of the descriptor.
    func release() -> CInt { descriptor.take() ?? -1 }
}

/// Reads one pipe of a task on the event loop, part by part; ``PipePoller`` says why NIO does not.
///
/// Used only on the event loop.
final class PipeReader: @unchecked Sendable {
    // Unchecked: the poller's thread only schedules work on the loop.
    /// The most bytes that are read at once.
    ///
    /// Our choice: what a pipe holds. While a launch is slowed down, it is a page, so that each part makes
    /// only a little work.
    private static let (part, smallPart) = (65_536, 4096)
    /// How many parts are read in one go from a task that is about to be killed: 1 MiB, the most that a pipe
    /// holds by default limits.
    private static let mostParts = 1_048_576 / part

    /// One for all launchers of this process, because its thread does not end; `nil` before the first pipe.
    private static let poller = Mutex<PipePoller?>(nil)

    private let receive: (UnsafeRawBufferPointer) -> Void
    private var ended: (() -> Void)?
    private var pipe: PolledPipe?
    private var isArmed = false
    private var isPaused = false
    private var readsLittle = false

    /// Prepares to read; call ``start()`` to begin.
    ///
    /// - Parameters:
    ///   - descriptor: The read end of the pipe; the reader closes it.
    ///   - loop: The event loop on which both callbacks run.
    ///   - receive: Called with bytes, which are valid only during the call; without bytes if there were
    ///     none.
    ///   - ended: Called once, after the last bytes, unless the reader was closed before.
    init(
        _ descriptor: CInt, on loop: any EventLoop,
        receive: @escaping (UnsafeRawBufferPointer) -> Void, ended: @escaping () -> Void
    ) {
        loop.assertInEventLoop()
        self.receive = receive
        self.ended = ended
        let end = OwnedDescriptor(taking: descriptor)
        let poller = Self.poller.withLock { poller in
            if poller == nil { poller = try? PipePoller() }
            return poller
        }
        guard let poller else { return }
        pipe = try? PolledPipe(taking: end, polledBy: poller) { [weak self] in
            guard let self else { return }
            loop.execute { self.told() }
        }
    }

    /// Begins to read; a pipe that can't be polled counts as ended.
    func start() {
        if pipe == nil { end() } else { arm() }
    }

    /// Stops reading for a while; from then on, the pipe is read in small parts.
    func pause() { (isPaused, readsLittle) = (true, true) }

    /// Reads again.
    func goOn() {
        isPaused = false
        arm()
    }

    /// Reads a little, also during a pause.
    func readLittle() { _ = readPart(Self.smallPart) }

    /// Reads what is in the pipe now, also during a pause.
    func readNow() {
        for _ in 0..<Self.mostParts where !readPart(Self.part) { return }
    }

    /// Closes the pipe; what is left in it is lost.
    func close() {
        pipe = nil
        ended = nil
    }

    private func arm() {
        guard let pipe, !isArmed, !isPaused else { return }
        isArmed = true
        pipe.arm()
    }

    private func told() {
        isArmed = false
        // The next arming tells again what was told in a pause.
        if isPaused { return }
        _ = readPart(readsLittle ? Self.smallPart : Self.part)
        arm()
    }

    /// Reads once; returns whether there were bytes.
    private func readPart(_ size: Int) -> Bool {
        guard let pipe else { return false }
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
            switch pipe.read(into: buffer) {
            case .bytes(let count):
                receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return true
            case .nothing:
                // The task can make the poller tell this again and again, so it counts.
                receive(UnsafeRawBufferPointer(rebasing: buffer[..<0]))
                return false
            case .end:
                end()
                return false
            }
        }
    }

    private func end() {
        pipe = nil
        ended.take()?()
    }
}
