import BackgroundTasks

/// Takes the place of a body that a primitive scene or a view never has.
func neverAsked() -> Never {
    misuse("NSInternalInconsistencyException", "The body of a primitive scene, or of a view, was asked for.")
}

/// A scene that is not made of others, or that adds something to one.
@MainActor
protocol PrimitiveScene {
    /// Tells what it carries.
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

/// What an evaluation of an app's scenes finds.
@MainActor
final class SceneCollector {
    /// The background tasks, in order.
    private(set) var tasks: [SceneTask] = []
    /// The values that are waited for, in order; the same app has them in the same order each time.
    private(set) var changes: [SceneChange] = []

    /// Evaluates a scene and all it is made of.
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
