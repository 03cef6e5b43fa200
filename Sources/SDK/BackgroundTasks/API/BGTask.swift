@_exported public import Foundation
import Synchronization

/// One launch of a background task, which a launch handler receives.
///
/// Set ``expirationHandler`` first, then do the work, then call ``setTaskCompleted(success:)``. You can use
/// all members from any thread.
public class BGTask: NSObject, @unchecked Sendable {
    // Unchecked: the only stored property is `running`, which guards its state with a mutex.
    package let running: RunningTask

    package init(_ running: RunningTask) {
        self.running = running
        super.init()
    }

    /// Unavailable: only the scheduler makes tasks.
    @available(*, unavailable, message: "The scheduler creates tasks and passes them to your launch handler")
    public override init() { misuse("BGTask", "only the scheduler can create a BGTask") }

    /// The identifier that was submitted; this is never a wildcard, even if the handler is registered for
    /// one.
    public var identifier: String { running.facts.identifier }

    /// A closure that is called once when the launch must end soon, on the queue of the launch handler.
    ///
    /// Without an expiration handler, an expiring launch ends immediately and without success. The property
    /// becomes `nil` when the handler is called, and in ``setTaskCompleted(success:)``. A handler that is set
    /// while the launch is already expiring is called immediately.
    public var expirationHandler: (() -> Void)? {
        get { running.expirationHandler }
        set { running.expirationHandler = newValue }
    }

    /// Reports that the work has ended; the process ends soon afterwards.
    ///
    /// Only the first call has an effect. The host does not repeat an unsuccessful launch by itself: to try
    /// again, submit another request before this call.
    ///
    /// - Parameter success: Whether the work was done.
    public func setTaskCompleted(success: Bool) { running.complete(success: success) }

    /// The class, the identifier and the attempt.
    public override var description: String {
        "<\(type(of: self)): \(identifier), attempt \(running.facts.attempt)>"
    }
}

/// A launch of up to 30 s that fetches what the user will see next.
public class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// A launch of some minutes while the device is idle.
public class BGProcessingTask: BGTask, @unchecked Sendable {}

/// A processing launch for a health study in which the user takes part.
///
/// If the manifest has the mode `health-research`, every processing task of the bundle has this class.
public class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}

/// A launch that the user requested, can watch and can cancel.
///
/// It must report ``progress``: the host ends a launch without progress.
public class BGContinuedProcessingTask: BGTask, ProgressReporting, @unchecked Sendable {
    /// The progress of the work; the host receives every change of its units and of its children's units.
    ///
    /// When the user cancels the task, this object is cancelled, and the expiration handler is called, too.
    public let progress: Progress

    override package init(_ running: RunningTask) {
        progress = running.makeProgress()
        super.init(running)
    }

    /// The title that the user sees.
    public var title: String { running.titles.title }

    /// The second line, below the title.
    public var subtitle: String { running.titles.subtitle }

    /// Replaces the texts that the user sees.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - subtitle: The second line, below the title.
    public func updateTitle(_ title: String, subtitle: String) {
        running.setTitles(title, subtitle)
    }
}
