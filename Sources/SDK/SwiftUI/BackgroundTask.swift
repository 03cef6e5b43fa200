/// The kind of background task for which a scene's action runs.
public struct BackgroundTask<Request: Sendable, Response: Sendable>: Sendable {
    let trigger: BackgroundTrigger
    /// Converts the identifier of the task or session to the argument of the action.
    let request: @Sendable (String) -> Request
}

extension BackgroundTask {
    /// All app refresh tasks without an action or handler of their own; the action gets the task's
    /// identifier.
    public static var appRefresh: BackgroundTask<String?, Void> {
        BackgroundTask<String?, Void>(trigger: .appRefresh(nil)) { $0 }
    }

    /// The app refresh task with this identifier.
    ///
    /// - Parameter identifier: An identifier that the manifest permits.
    /// - Returns: A value for ``Scene/backgroundTask(_:action:)``.
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> {
        BackgroundTask<Void, Void>(trigger: .appRefresh(identifier)) { _ in }
    }

    /// The events of all background transfer sessions; the action gets the session's identifier.
    public static var urlSession: BackgroundTask<String, Void> {
        BackgroundTask<String, Void>(trigger: .urlSession { _ in true }) { $0 }
    }

    /// The events of one background transfer session.
    ///
    /// - Parameter identifier: The identifier of the session.
    /// - Returns: A value for ``Scene/backgroundTask(_:action:)``.
    public static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> {
        BackgroundTask<Void, Void>(trigger: .urlSession { $0 == identifier }) { _ in }
    }

    /// The events of some background transfer sessions; the action gets the session's identifier.
    ///
    /// - Parameter matching: Whether the session with this identifier is included.
    /// - Returns: A value for ``Scene/backgroundTask(_:action:)``.
    public static func urlSession(matching: @escaping @Sendable (String) -> Bool) -> BackgroundTask<
        String, Void
    > {
        BackgroundTask<String, Void>(trigger: .urlSession(matching)) { $0 }
    }
}

extension Scene {
    /// Runs an action when the app is launched for a background task.
    ///
    /// The background task is complete when the action returns. If it expires, the Swift task that runs the
    /// action is cancelled.
    ///
    /// - Parameters:
    ///   - task: The background task.
    ///   - action: The action to run.
    /// - Returns: The scene with the background task.
    public func backgroundTask<Request: Sendable, Response: Sendable>(
        _ task: BackgroundTask<Request, Response>, action: @escaping @Sendable (Request) async -> Response
    ) -> some Scene {
        let request = task.request
        return SceneWithTask(
            scene: self, task: SceneTask(trigger: task.trigger) { _ = await action(request($0)) })
    }
}

/// The launches for which a scene's action runs.
enum BackgroundTrigger: Sendable {
    /// An app refresh task; `nil` means every one without a handler.
    case appRefresh(String?)
    /// The events of the background transfer sessions for which this closure returns true.
    case urlSession(@Sendable (String) -> Bool)
}

/// A background task of a scene.
struct SceneTask: Sendable {
    let trigger: BackgroundTrigger
    /// The action; its argument is the identifier of the task or session.
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
