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
    /// A background transfer session of that identifier has events; calls back with whether they are dealt
    /// with.
    ///
    /// Returns what is called when the launch expires, and leads to the call back soon; `nil` where nothing
    /// can be told: then an expiring launch ends at once.
    package var transferEvents:
        (@MainActor @Sendable (String, @escaping @Sendable (Bool) -> Void) -> (@Sendable () -> Void)?)?

    package init(enterBackground: @escaping @MainActor @Sendable () -> Void = {}) {
        self.enterBackground = enterBackground
    }
}
