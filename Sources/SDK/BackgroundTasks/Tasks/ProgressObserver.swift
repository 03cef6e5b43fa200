import Foundation
import Synchronization

/// A progress that calls a closure after each change of its own units.
final class ReportedProgress: Progress, @unchecked Sendable {
    // Unchecked: written once, before any other code has a reference to the object.
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

/// Reports a progress to the host when it has changed.
///
/// Changes of its own units are reported immediately. On Linux, the completion of child progresses does not
/// call a setter of the parent, so a timer looks for it.
final class ProgressObserver: Sendable {
    /// How often the timer looks for changes; the host ends a launch only after tens of seconds without
    /// progress.
    static let interval = DispatchTimeInterval.milliseconds(250)

    let progress: Progress
    private let report: @Sendable (Int64, Int64) -> Void

    private struct State {
        var timer: Unchecked<any DispatchSourceTimer>?
        var last: Report?
        /// Whether child progresses were found; from then on, reports may use more units than the parent, to
        /// show theirs.
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

    /// Reports the progress if it has changed since the last report.
    func look() {
        let own = progress.completedUnitCount, total = progress.totalUnitCount
        let fraction = progress.fractionCompleted
        let news = state.withLock { state -> Report? in
            // The fraction and the quotient of the units can differ in their last bits even without children,
            // because of rounding.
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

    /// A parent with at least this number of units can show its children's progress in its own units.
    private static let finestUnits: Int64 = 100_000

    private static func report(own: Int64, total: Int64, fraction: Double?) -> Report {
        // A total of 0 or less means that the progress is indeterminate; the host then shows the completed
        // units.
        guard total > 0 else { return Report(completed: max(0, own), total: 0) }
        guard let fraction, fraction.isFinite else { return Report(completed: max(0, own), total: total) }
        // If the parent has enough units, they are kept, so that progress in bytes is still shown in bytes.
        let scaled = total < finestUnits ? total * 1000 : total
        return Report(completed: Int64((min(1, max(0, fraction)) * Double(scaled)).rounded()), total: scaled)
    }
}
