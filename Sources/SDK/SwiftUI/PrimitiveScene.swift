import BackgroundTasks

/// The body of scenes and views that have none; ends the process, because it must never be called.
func neverAsked() -> Never {
    misuse("NSInternalInconsistencyException", "The body of a primitive scene, or of a view, was asked for.")
}

/// A scene that does not consist of other scenes, or that adds something to one scene.
@MainActor
protocol PrimitiveScene {
    /// Adds the scene's background tasks and observed values to the collector.
    func collect(into collector: SceneCollector)
}

/// Several scenes.
struct SceneGroup: Scene, PrimitiveScene {
    let scenes: [any Scene]

    var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {
        for scene in scenes { collector.visit(scene) }
    }
}

/// The background tasks and observed values that an evaluation of an app's scenes finds.
@MainActor
final class SceneCollector {
    /// The background tasks, in the order of the scenes.
    private(set) var tasks: [SceneTask] = []
    /// The observed values, in the order of the scenes; this order is the same in each evaluation.
    private(set) var changes: [SceneChange] = []

    /// Evaluates a scene and all scenes that it consists of.
    func visit(_ scene: some Scene) {
        if let primitive = scene as? any PrimitiveScene {
            primitive.collect(into: self)
        } else {
            visit(scene.body)
        }
    }

    func add(_ task: SceneTask) { tasks.append(task) }
    func add(_ change: SceneChange) { changes.append(change) }
}
