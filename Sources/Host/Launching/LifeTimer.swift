import NIOCore
import TaskModel

/// The one deadline that a launch has at a time, which can be paused.
///
/// Confined to the event loop.
struct LifeTimer {
    private var timer: Scheduled<Void>?
    private var body: (@Sendable () -> Void)?
    /// What is left of it while it is paused, or was when it was started.
    private var left = Duration.zero
    /// On CLOCK_MONOTONIC; `nil` while it is paused.
    private var start: Duration?

    /// Replaces the deadline; it does not run yet.
    mutating func set(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        cancel()
        left = time
        self.body = body
    }

    /// Lets it run, unless there is none or it runs already.
    mutating func run(
        at now: Moment, on schedule: (Duration, @escaping @Sendable () -> Void) -> Scheduled<Void>
    ) {
        guard let body, timer == nil else { return }
        start = now.monotonic
        timer = schedule(left, body)
    }

    /// Pauses it.
    mutating func pause(at now: Moment) {
        guard let start else { return }
        timer?.cancel()
        timer = nil
        left = max(.zero, left - (now.monotonic - start))
        self.start = nil
    }

    /// Ends it.
    mutating func cancel() {
        timer?.cancel()
        timer = nil
        body = nil
        start = nil
    }
}
