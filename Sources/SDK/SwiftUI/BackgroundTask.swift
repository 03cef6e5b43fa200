/// What a scene's action is run for.
public struct BackgroundTask<Request: Sendable, Response: Sendable>: Sendable {
    let trigger: BackgroundTrigger
    /// What the action gets, made of the task's or session's identifier.
    let request: @Sendable (String) -> Request
}

extension BackgroundTask {
    /// Any app refresh task that has no action of its own; the action gets its identifier.
    public static var appRefresh: BackgroundTask<String?, Void> {
        BackgroundTask<String?, Void>(trigger: .appRefresh(nil)) { $0 }
    }

    /// The app refresh task of an identifier.
    ///
    /// - Parameter identifier: One that the manifest permits.
    /// - Returns: What ``Scene/backgroundTask(_:action:)`` takes.
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> {
        BackgroundTask<Void, Void>(trigger: .appRefresh(identifier)) { _ in }
    }

    /// The events of any background transfer session; the action gets its identifier.
    public static var urlSession: BackgroundTask<String, Void> {
        BackgroundTask<String, Void>(trigger: .urlSession { _ in true }) { $0 }
    }

    /// The events of one background transfer session.
    ///
    /// - Parameter identifier: The session's.
    /// - Returns: What ``Scene/backgroundTask(_:action:)`` takes.
    public static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> {
        BackgroundTask<Void, Void>(trigger: .urlSession { $0 == identifier }) { _ in }
    }

    /// The events of the background transfer sessions that match; the action gets the session's identifier.
    ///
    /// - Parameter matching: Whether a session is one of them.
    /// - Returns: What ``Scene/backgroundTask(_:action:)`` takes.
    public static func urlSession(matching: @escaping @Sendable (String) -> Bool) -> BackgroundTask<
        String, Void
    > {
        BackgroundTask<String, Void>(trigger: .urlSession(matching)) { $0 }
    }
}

extension Scene {
    /// Runs an action when the app is launched for a background task.
    ///
    /// The task is complete when the action returns. When it expires, the Swift task that runs the action is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - task: What the app is launched for.
    ///   - action: What to do.
    /// - Returns: The scene with the task.
    public func backgroundTask<Request: Sendable, Response: Sendable>(
        _ task: BackgroundTask<Request, Response>, action: @escaping @Sendable (Request) async -> Response
    ) -> some Scene {
        let request = task.request
        return SceneWithTask(
            scene: self, task: SceneTask(trigger: task.trigger) { _ = await action(request($0)) })
    }
}

/// What the app is launched for.
enum BackgroundTrigger: Sendable {
    /// An app refresh; `nil` is any that has no handler of its own.
    case appRefresh(String?)
    /// The events of a background transfer session that matches.
    case urlSession(@Sendable (String) -> Bool)
}

/// A background task of a scene.
struct SceneTask: Sendable {
    let trigger: BackgroundTrigger
    /// Gets the identifier of the task or session.
    let action: @Sendable (String) async -> Void
}

/// A scene with a background task.
struct SceneWithTask<Content: Scene>: Scene, PrimitiveScene {
    let scene: Content
    let task: SceneTask

    var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {
        collector.visit(scene)
        collector.add(task)
    }
}
