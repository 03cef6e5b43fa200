import Foundation

/// The functions of an app that can be called besides its registered handlers.
package struct AppCallbacks: Sendable {
    /// The result of handling a silent push.
    package enum PushResult: String, Sendable {
        case newData
        case noData
        case failed
    }

    /// Called at an app launch, when the app enters the background.
    package var enterBackground: @MainActor @Sendable () -> Void
    /// Handles a silent push with this JSON object, and calls its second argument when it has finished.
    package var push: (@MainActor @Sendable (Data?, @escaping @Sendable (PushResult) -> Void) -> Void)?
    /// Handles the events of the background transfer session with this identifier, and calls its second
    /// argument with whether it succeeded.
    ///
    /// Returns a closure that is called when the launch expires; the handler must then finish soon. If it
    /// returns `nil`, an expiring launch ends immediately.
    package var transferEvents:
        (@MainActor @Sendable (String, @escaping @Sendable (Bool) -> Void) -> (@Sendable () -> Void)?)?

    package init(enterBackground: @escaping @MainActor @Sendable () -> Void = {}) {
        self.enterBackground = enterBackground
    }
}
