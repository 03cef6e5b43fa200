import BackgroundTasks
import UIKit
import Synchronization

/// The launch of an app.
@MainActor
enum AppLaunch {
    /// Evaluates the scenes, registers their background tasks, and runs what the process was launched for.
    static func run(_ type: (some App).Type) {
        // An app launch begins as if the user had opened the app. Every other launch begins in the
        // background.
        let launchedFor = BackgroundTasks.App.shared.host.launchedFor?.kind
        EnvironmentValues.current.scenePhase = launchedFor == .appLaunch ? .active : .background
        let app = type.init()
        let delegate = DelegateBook.delegate
        Launching.adopt(delegate)
        var scenes = evaluate(app)
        for change in scenes.changes where change.isInitial { change.begin() }
        register(scenes.tasks)
        SceneLife.enterForeground(delegate)
        var callbacks = Launching.callbacks(of: delegate)
        let delegateEntersBackground = callbacks.enterBackground
        callbacks.enterBackground = {
            EnvironmentValues.current.scenePhase = .inactive
            scenes = told(app, since: scenes)
            EnvironmentValues.current.scenePhase = .background
            scenes = told(app, since: scenes)
            delegateEntersBackground()
        }
        let sessions = scenes.tasks.compactMap { task -> (@Sendable (String) -> Bool, SceneTask)? in
            guard case .urlSession(let matches) = task.trigger else { return nil }
            return (matches, task)
        }
        if !sessions.isEmpty {
            let delegateTakesEvents = callbacks.transferEvents
            callbacks.transferEvents = { identifier, completion in
                guard let (_, task) = sessions.first(where: { $0.0(identifier) }) else {
                    return delegateTakesEvents?(identifier, completion)
                }
                let work = Task {
                    await task.action(identifier)
                    await SessionEvents.finished()
                    completion(!Task.isCancelled)
                }
                return { work.cancel() }
            }
        }
        LaunchedApp.finishLaunching(callbacks)
    }

    private static func evaluate(_ app: some App) -> SceneCollector {
        let collector = SceneCollector()
        collector.visit(app.body)
        return collector
    }

    /// Evaluates the scenes again, and calls the actions of the values that changed.
    private static func told(_ app: some App, since old: SceneCollector) -> SceneCollector {
        let new = evaluate(app)
        for (old, new) in zip(old.changes, new.changes) { new.compare(old.value) }
        return new
    }

    private static func register(_ tasks: [SceneTask]) {
        let scheduler = BGTaskScheduler.shared
        for task in tasks {
            guard case .appRefresh(let identifier?) = task.trigger else { continue }
            register(task, for: identifier, with: scheduler)
        }
        guard
            let other = tasks.first(where: {
                if case .appRefresh(nil) = $0.trigger { true } else { false }
            })
        else { return }
        // A task without an identifier handles every permitted app refresh task that has no handler.
        for identifier in BackgroundTasks.App.shared.permittedRefreshesWithoutHandler {
            register(other, for: identifier, with: scheduler)
        }
    }

    private static func register(_ task: SceneTask, for identifier: String, with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { launched in
            let work = Task {
                await task.action(launched.identifier)
                launched.setTaskCompleted(success: !Task.isCancelled)
            }
            launched.expirationHandler = { work.cancel() }
        }
    }
}
