import Foundation

/// The launches of an app for the events of a background session.
package enum SessionEvents {
    /// The identifier of the session for whose events the app was launched.
    ///
    /// The launch names it, because the identifier of the task can be another one.
    static func session(of launch: LaunchFacts) -> String {
        struct Payload: Decodable { var session: String }
        let named = launch.payload.flatMap { try? JSONDecoder().decode(Payload.self, from: $0) }
        return named?.session ?? launch.identifier
    }

    /// Begins to deliver the events, now that the app knows for which session it was launched.
    static func announce(_ session: String) {
        #if BackgroundTransfers
            SessionCenter.shared.announce(session)
        #endif
    }

    /// Whether the app has resumed a task that the host does not have yet.
    static var isHandingOver: Bool {
        #if BackgroundTransfers
            SessionCenter.shared.isHandingOver
        #else
            false
        #endif
    }

    /// Waits until the delegate of the session has received all events.
    package static func finished() async {
        #if BackgroundTransfers
            await SessionCenter.shared.eventsFinished()
        #endif
    }
}
