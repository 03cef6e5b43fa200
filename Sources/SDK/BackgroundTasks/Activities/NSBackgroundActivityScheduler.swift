public import Foundation
import Synchronization

/// Runs a block repeatedly, at a time that is good for the system.
///
/// On Linux, the host launches a process for each run. The manifest must permit the identifier with the kind
/// `activity`. The app's launch code must make the scheduler and call ``schedule(_:)`` in every process; only
/// the process that was launched for the activity runs the block.
public class NSBackgroundActivityScheduler: NSObject, @unchecked Sendable {
    // Unchecked: all variable state is in the mutex.

    /// How a block ended.
    public enum Result: Int, Sendable {
        /// The work is done until the next run.
        case finished = 1
        /// The block stopped early, for example because of ``NSBackgroundActivityScheduler/shouldDefer``, and
        /// wants to continue soon.
        case deferred = 2
    }

    /// The closure that the block must call exactly once, when it has ended.
    public typealias CompletionHandler = @Sendable (NSBackgroundActivityScheduler.Result) -> Void

    /// The identifier of the activity in the manifest and in reports.
    public let identifier: String

    private struct State {
        var qualityOfService = QualityOfService.background
        var repeats = false
        var interval: TimeInterval = 0
        var tolerance: TimeInterval?
        var isInvalid = false
    }

    private let state = Mutex(State())

    /// Makes a scheduler; this does not schedule anything.
    ///
    /// - Parameter identifier: An identifier that the manifest permits with the kind `activity`.
    public init(identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// The quality of service of the block's queue; the default is `background`.
    public var qualityOfService: QualityOfService {
        get { state.withLock { $0.qualityOfService } }
        set { state.withLock { $0.qualityOfService = newValue } }
    }

    /// Whether the activity is scheduled again after the block has finished.
    public var repeats: Bool {
        get { state.withLock { $0.repeats } }
        set { state.withLock { $0.repeats = newValue } }
    }

    /// Seconds between two runs or, without repetition, until the only run.
    public var interval: TimeInterval {
        get { state.withLock { $0.interval } }
        set { state.withLock { $0.interval = max(0, newValue) } }
    }

    /// How many seconds before or after the end of ``interval`` the block may run; the default is half of
    /// ``interval``.
    public var tolerance: TimeInterval {
        get { state.withLock { $0.tolerance ?? $0.interval / 2 } }
        set { state.withLock { $0.tolerance = max(0, newValue) } }
    }

    /// Whether the block should stop early and complete with ``Result/deferred``.
    ///
    /// If it does not stop, the launch expires.
    public var shouldDefer: Bool { App.shared.host.conditions.shouldDefer }

    /// Schedules the block or, in the process that was launched for this activity, runs it.
    ///
    /// - Parameter block: Runs on a serial background queue, and must call its argument once when it has
    ///   ended. If it never does, the activity is not scheduled again.
    public func schedule(_ block: @escaping (@escaping CompletionHandler) -> Void) {
        let block = Unchecked(block)
        App.shared.schedule(Activity(scheduler: self) { block.value($0) })
    }

    /// Cancels the pending request of the activity.
    ///
    /// A block that is running continues, but the activity is not scheduled again.
    public func invalidate() {
        state.withLock { $0.isInvalid = true }
        App.shared.unschedule(identifier)
    }

    /// Returns the request for the next run.
    ///
    /// Its window begins at `now` plus the interval minus the tolerance, and ends at `now` plus the interval
    /// plus the tolerance, which counts as at most the interval. After a run that was deferred, the window
    /// begins at once and ends after the tolerance.
    ///
    /// - Parameters:
    ///   - result: How the last run ended; `nil` before the first run.
    ///   - now: The present time.
    /// - Returns: `nil` if the scheduler was invalidated, or does not repeat and has finished.
    func nextRequest(after result: Result?, now: Date) -> RequestFacts? {
        state.withLock { state in
            guard !state.isInvalid else { return nil }
            if result == .finished && !state.repeats { return nil }
            let tolerance = min(state.tolerance ?? state.interval / 2, state.interval)
            var facts = RequestFacts(identifier: identifier, kind: .activity)
            // A block that stopped early may continue immediately, and must continue within the tolerance.
            facts.earliestBeginDate = result == .deferred ? nil : now + (state.interval - tolerance)
            facts.deadline = now + (result == .deferred ? tolerance : state.interval + tolerance)
            return facts
        }
    }
}
