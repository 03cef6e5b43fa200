import Foundation
import Synchronization

/// A block of an activity scheduler, waiting for its launch.
struct Activity: Sendable {
    let scheduler: NSBackgroundActivityScheduler
    let block: @Sendable (@escaping NSBackgroundActivityScheduler.CompletionHandler) -> Void

    /// Runs the block as a launch.
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
                    "the block of the activity \(scheduler.identifier) let go of its completion handler without calling "
                        + "it: it is never scheduled again. Call it on every path.")
            }
            running.complete(success: result != nil, message: result == .deferred ? "deferred" : nil)
        }
        // Without completing it would be put back; Apple's rule is that it is not scheduled again.
        running.expirationHandler = { running.complete(success: false) }
        let block = block
        DispatchQueue(
            label: "BackgroundTasks.\(scheduler.identifier)", qos: scheduler.qualityOfService.dispatch
        )
        .async { block { ending.end($0) } }
    }
}

/// Hears of the end of a block: that it called its completion handler, or let go of it.
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
    /// Dispatch's word for it.
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
