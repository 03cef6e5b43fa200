import Foundation
import Synchronization

/// A progress that tells when its own units are written.
final class ReportedProgress: Progress, @unchecked Sendable {
    // Unchecked: written once, before any other code has the object.
    nonisolated(unsafe) var changed: @Sendable () -> Void = {}

    init() {
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
    }

    override var completedUnitCount: Int64 {
        get { super.completedUnitCount }
        set {
            super.completedUnitCount = newValue
            changed()
        }
    }

    override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set {
            super.totalUnitCount = newValue
            changed()
        }
    }
}

/// Reports a progress when it has changed: at once for its own units, and by looking for those of its
/// children, whose completion does not pass through any setter of the parent on Linux.
final class ProgressWatch: Sendable {
    /// How often children are looked at: the host's stall rule counts in tens of seconds.
    static let interval = DispatchTimeInterval.milliseconds(250)

    let progress: Progress
    private let report: @Sendable (Int64, Int64) -> Void

    private struct State {
        var timer: Unchecked<any DispatchSourceTimer>?
        var last: Report?
        /// Whether children were seen at work: from then on units are finer than the parent's own.
        var hasChildren = false
    }

    private struct Report: Equatable {
        var completed: Int64
        var total: Int64
    }

    private let state = Mutex(State())

    init(_ progress: Progress, report: @escaping @Sendable (Int64, Int64) -> Void) {
        self.progress = progress
        self.report = report
    }

    func start() {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue.global(qos: .utility))
        timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
        timer.setEventHandler { [weak self] in self?.look() }
        let stored = Unchecked<any DispatchSourceTimer>(timer)
        state.withLock { $0.timer = stored }
        timer.activate()
    }

    func stop() {
        look()
        let timer = state.withLock { state in
            defer { state.timer = nil }
            return state.timer
        }
        timer?.value.cancel()
    }

    /// Reports what has changed since the last look.
    func look() {
        let own = progress.completedUnitCount, total = progress.totalUnitCount
        let fraction = progress.fractionCompleted
        let news = state.withLock { state -> Report? in
            // Rounding makes the fraction of own units differ from their quotient in the last bits.
            if total > 0, fraction.isFinite, fraction > Double(own) / Double(total) + 1e-9 {
                state.hasChildren = true
            }
            let now = Self.report(own: own, total: total, fraction: state.hasChildren ? fraction : nil)
            guard now != state.last else { return nil }
            state.last = now
            return now
        }
        if let news { report(news.completed, news.total) }
    }

    /// From how many units on a parent's are as fine as anybody looks at its children's.
    private static let finestUnits: Int64 = 100_000

    private static func report(own: Int64, total: Int64, fraction: Double?) -> Report {
        // No total is indeterminate: then the host counts the completed units.
        guard total > 0 else { return Report(completed: max(0, own), total: 0) }
        guard let fraction, fraction.isFinite else { return Report(completed: max(0, own), total: total) }
        // Units that are fine enough are kept, so that bytes are shown as bytes.
        let scaled = total < finestUnits ? total * 1000 : total
        return Report(completed: Int64((min(1, max(0, fraction)) * Double(scaled)).rounded()), total: scaled)
    }
}
