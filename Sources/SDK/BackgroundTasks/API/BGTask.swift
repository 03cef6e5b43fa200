@_exported public import Foundation
import Synchronization

/// One launch of a background task: what the launch handler gets.
///
/// Set ``expirationHandler`` first, do the work, and call ``setTaskCompleted(success:)``. Every member may be
/// used from any thread.
public class BGTask: NSObject, @unchecked Sendable {
    // Unchecked: `running` guards its own state with a mutex, and nothing else is stored.
    package let running: RunningTask

    package init(_ running: RunningTask) {
        self.running = running
        super.init()
    }

    /// Tasks are made by the scheduler.
    @available(*, unavailable, message: "The scheduler makes tasks and hands them to your launch handler")
    public override init() { misuse("BGTask", "a BGTask can't be made by hand") }

    /// The identifier that was submitted: the whole one, where the handler is registered for a wildcard.
    public var identifier: String { running.facts.identifier }

    /// Called once when the launch must end soon, on the queue that the handler was registered with.
    ///
    /// Without one an expiring launch ends at once, unsuccessful. Set to `nil` after it has been called, and
    /// by ``setTaskCompleted(success:)``. One that is set too late, when the launch expires already, is
    /// called at once.
    public var expirationHandler: (() -> Void)? {
        get { running.expirationHandler }
        set { running.expirationHandler = newValue }
    }

    /// Says that the work has ended; the process ends soon after.
    ///
    /// The first call counts, later ones are ignored. `false` does not try again: submit another request
    /// before, where that is wanted.
    ///
    /// - Parameter success: Whether the work was done.
    public func setTaskCompleted(success: Bool) { running.complete(success: success) }

    /// The identifier and what has become of it.
    public override var description: String {
        "<\(type(of: self)): \(identifier), attempt \(running.facts.attempt)>"
    }
}

/// A launch of up to 30 s that fetches what the user will see next.
public class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// A launch of minutes while the device is idle.
public class BGProcessingTask: BGTask, @unchecked Sendable {}

/// A processing launch of a study that the user takes part in.
///
/// Every processing task of a bundle is one whose manifest has the mode `health-research`.
public class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}

/// A launch that the user has asked for, sees, and can cancel.
///
/// It must report ``progress``: one that stalls expires.
public class BGContinuedProcessingTask: BGTask, ProgressReporting, @unchecked Sendable {
    /// How far the work is; every change of its units, and of its children's, is reported to the host.
    ///
    /// Cancelled, besides the expiration handler's call, when the user cancels the task.
    public let progress: Progress

    override package init(_ running: RunningTask) {
        progress = running.makeProgress()
        super.init(running)
    }

    /// What the user sees.
    public var title: String { running.titles.title }

    /// The second line of what the user sees.
    public var subtitle: String { running.titles.subtitle }

    /// Replaces what the user sees.
    ///
    /// - Parameters:
    ///   - title: The first line.
    ///   - subtitle: The second line.
    public func updateTitle(_ title: String, subtitle: String) {
        running.setTitles(title, subtitle)
    }
}
