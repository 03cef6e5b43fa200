import NIOCore
import TaskModel

/// The present deadline of a launch, which can be paused; a launch has at most one deadline at a time.
///
/// All methods run on the event loop.
struct LifeTimer {
    private var timer: Scheduled<Void>?
    private var body: (@Sendable () -> Void)?
    /// The remaining time at the last start or pause.
    private var left = Duration.zero
    /// When the timer was started, on CLOCK_MONOTONIC; `nil` while it is paused.
    private var start: Duration?

    /// Replaces the deadline; ``run(at:on:)`` starts it.
    mutating func set(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        cancel()
        left = time
        self.body = body
    }

    /// Starts or continues the deadline; does nothing without a deadline or while it runs.
    mutating func run(
        at now: Moment, on schedule: (Duration, @escaping @Sendable () -> Void) -> Scheduled<Void>
    ) {
        guard let body, timer == nil else { return }
        start = now.monotonic
        timer = schedule(left, body)
    }

    /// Pauses the deadline.
    mutating func pause(at now: Moment) {
        guard let start else { return }
        timer?.cancel()
        timer = nil
        left = max(.zero, left - (now.monotonic - start))
        self.start = nil
    }

    /// Removes the deadline.
    mutating func cancel() {
        timer?.cancel()
        timer = nil
        body = nil
        start = nil
    }
}
