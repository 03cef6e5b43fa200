import Foundation
import Synchronization

/// A block of an activity scheduler that waits for its launch.
struct Activity: Sendable {
    let scheduler: NSBackgroundActivityScheduler
    let block: @Sendable (@escaping NSBackgroundActivityScheduler.CompletionHandler) -> Void

    /// Runs the block for a launch, and submits the next request when the block has ended.
    func run(_ running: RunningTask) {
        let scheduler = scheduler
        let ending = ActivityEnding { result in
            if let result, let next = scheduler.nextRequest(after: result, now: App.shared.host.now) {
                do {
                    try App.shared.submit(next)
                } catch {
                    App.shared.host.log(
                        .error, subsystem: nil, category: nil,
                        "the activity \(scheduler.identifier) is not scheduled again: \(error.localizedDescription)"
                    )
                }
            }
            if result == nil {
                App.shared.host.advise(
                    "completionNeverCalled",
                    "the block of the activity \(scheduler.identifier) released its completion handler without calling "
                        + "it, so the activity is not scheduled again. Call it on every path.")
            }
            running.complete(success: result != nil, message: result == .deferred ? "deferred" : nil)
        }
        // A launch that expires without completing is put back, but Apple never schedules such an activity
        // again.
        running.expirationHandler = { running.complete(success: false) }
        let block = block
        DispatchQueue(
            label: "BackgroundTasks.\(scheduler.identifier)", qos: scheduler.qualityOfService.dispatch
        )
        .async { block { ending.end($0) } }
    }
}

/// Calls a closure when an activity's block ends: with its result, or with `nil` if the block released its
/// completion handler without calling it.
private final class ActivityEnding: Sendable {
    private let body: Mutex<(@Sendable (NSBackgroundActivityScheduler.Result?) -> Void)?>

    init(_ body: @escaping @Sendable (NSBackgroundActivityScheduler.Result?) -> Void) {
        self.body = Mutex(body)
    }

    func end(_ result: NSBackgroundActivityScheduler.Result?) {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?(result)
    }

    deinit { end(nil) }
}

extension QualityOfService {
    /// The equivalent class of Dispatch.
    fileprivate var dispatch: DispatchQoS {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        case .default: .default
        @unknown default: .default
        }
    }
}
