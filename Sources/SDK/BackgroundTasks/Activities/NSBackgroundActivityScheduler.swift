public import Foundation
import Synchronization

/// Runs a block now and then, when it is a good time for it.
///
/// On Linux the block runs in a launch of its own: the manifest permits the identifier with the kind
/// `activity`, launch code makes the scheduler and calls ``schedule(_:)`` each time, and the block runs in
/// that process which the host launched for it.
public class NSBackgroundActivityScheduler: NSObject, @unchecked Sendable {
    // Unchecked: what may change is in the mutex.

    /// How a block ended.
    public enum Result: Int, Sendable {
        /// The work is done, until the next time.
        case finished = 1
        /// It stopped midway, for instance because of ``NSBackgroundActivityScheduler/shouldDefer``, and
        /// wants to go on soon.
        case deferred = 2
    }

    /// What the block calls once, when it has ended.
    public typealias CompletionHandler = @Sendable (NSBackgroundActivityScheduler.Result) -> Void

    /// The activity; names it in reports and in the manifest.
    public let identifier: String

    private struct State {
        var qualityOfService = QualityOfService.background
        var repeats = false
        var interval: TimeInterval = 0
        var tolerance: TimeInterval?
        var isInvalid = false
    }

    private let state = Mutex(State())

    /// Makes a scheduler; nothing is scheduled yet.
    ///
    /// - Parameter identifier: One that the manifest permits, with the kind `activity`.
    public init(identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// At which priority the block runs; background at first.
    public var qualityOfService: QualityOfService {
        get { state.withLock { $0.qualityOfService } }
        set { state.withLock { $0.qualityOfService = newValue } }
    }

    /// Whether it is scheduled again after each time that it finished.
    public var repeats: Bool {
        get { state.withLock { $0.repeats } }
        set { state.withLock { $0.repeats = newValue } }
    }

    /// Seconds between two runs, or until the only one.
    public var interval: TimeInterval {
        get { state.withLock { $0.interval } }
        set { state.withLock { $0.interval = max(0, newValue) } }
    }

    /// How many seconds earlier or later than ``interval`` says is as good; half of it at first.
    public var tolerance: TimeInterval {
        get { state.withLock { $0.tolerance ?? $0.interval / 2 } }
        set { state.withLock { $0.tolerance = max(0, newValue) } }
    }

    /// Whether the block should stop midway and complete with ``Result/deferred``; expiration follows when it
    /// does not.
    public var shouldDefer: Bool { App.shared.host.conditions.shouldDefer }

    /// Schedules the block, or, in the process that was launched for this activity, runs it.
    ///
    /// - Parameter block: Runs on a serial queue in the background, and calls its argument once when it has
    ///   ended. One that never does is not scheduled again.
    public func schedule(_ block: @escaping (@escaping CompletionHandler) -> Void) {
        let block = Unchecked(block)
        App.shared.schedule(Activity(scheduler: self) { block.value($0) })
    }

    /// Takes it back: what is pending is cancelled; a block that runs goes on and is not scheduled again.
    public func invalidate() {
        state.withLock { $0.isInvalid = true }
        App.shared.unschedule(identifier)
    }

    /// When it should run next: the interval from now, give or take the tolerance.
    func nextRequest(after result: Result?, now: Date) -> RequestFacts? {
        state.withLock { state in
            guard !state.isInvalid else { return nil }
            if result == .finished && !state.repeats { return nil }
            let tolerance = min(state.tolerance ?? state.interval / 2, state.interval)
            var facts = RequestFacts(identifier: identifier, kind: .activity)
            // One that stopped midway goes on as soon as the host likes, within the tolerance.
            facts.earliestBeginDate = result == .deferred ? nil : now + (state.interval - tolerance)
            facts.deadline = now + (result == .deferred ? tolerance : state.interval + tolerance)
            return facts
        }
    }
}
