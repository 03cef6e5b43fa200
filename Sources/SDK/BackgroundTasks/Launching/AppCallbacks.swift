import Foundation

/// What an app may be called for besides its registered handlers.
package struct AppCallbacks: Sendable {
    /// What a silent push found.
    package enum PushResult: String, Sendable {
        case newData
        case noData
        case failed
    }

    /// The app leaves the foreground; called at an app launch.
    package var enterBackground: @MainActor @Sendable () -> Void
    /// A silent push came, with this JSON object; calls back when it is dealt with.
    package var push: (@MainActor @Sendable (Data?, @escaping @Sendable (PushResult) -> Void) -> Void)?
    /// A background transfer session of that identifier has events; calls back when they are dealt with.
    package var transferEvents: (@MainActor @Sendable (String, @escaping @Sendable () -> Void) -> Void)?
    /// The launch expires; for what the app holds besides its task.
    package var expire: (@Sendable () -> Void)?

    package init(enterBackground: @escaping @MainActor @Sendable () -> Void = {}) {
        self.enterBackground = enterBackground
    }
}
