/// Where a scene is.
public enum ScenePhase: Comparable, Hashable, Sendable {
    /// Not seen by the user.
    case background
    /// Seen, without events.
    case inactive
    /// In use.
    case active
}

/// What scenes learn about their surroundings.
public struct EnvironmentValues: Sendable {
    /// Where the app's scenes are: active while an app launch begins, then in the background; in every other
    /// launch in the background from the start.
    public var scenePhase: ScenePhase

    @MainActor static var current = EnvironmentValues(scenePhase: .background)
}

/// Reads a value of the surroundings.
@MainActor @preconcurrency
@propertyWrapper
public struct Environment<Value> {
    private let keyPath: KeyPath<EnvironmentValues, Value>

    /// Names the value.
    ///
    /// - Parameter keyPath: The value's place.
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

    /// The value, as it is now.
    public var wrappedValue: Value { EnvironmentValues.current[keyPath: keyPath] }
}

extension Scene {
    /// Calls an action when a value differs from the last evaluation's.
    ///
    /// - Parameters:
    ///   - value: The value; most often the scene phase.
    ///   - action: Gets the new value.
    /// - Returns: The scene that waits for the change.
    @_disfavoredOverload
    public func onChange<Value: Equatable>(of value: Value, perform action: @escaping (Value) -> Void)
        -> some Scene
    {
        SceneWithChange(scene: self, change: SceneChange(value) { _, new in action(new) })
    }

    /// Calls an action when a value differs from the last evaluation's.
    ///
    /// - Parameters:
    ///   - value: The value; most often the scene phase.
    ///   - initial: Whether to call it for the first evaluation too.
    ///   - action: Gets the old and the new value.
    /// - Returns: The scene that waits for the change.
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
    ) -> some Scene {
        SceneWithChange(scene: self, change: SceneChange(value, initial: initial, action))
    }

    /// Calls an action when a value differs from the last evaluation's.
    ///
    /// - Parameters:
    ///   - value: The value; most often the scene phase.
    ///   - initial: Whether to call it for the first evaluation too.
    ///   - action: What to do.
    /// - Returns: The scene that waits for the change.
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some Scene {
        SceneWithChange(scene: self, change: SceneChange(value, initial: initial) { _, _ in action() })
    }
}

/// A value of a scene that an action waits for.
@MainActor
struct SceneChange {
    /// The value, as it was evaluated.
    let value: Any
    /// Whether the first evaluation counts as a change.
    let isInitial: Bool
    /// Calls the action if this value differs from an older one.
    let compare: (_ older: Any) -> Void
    /// Calls the action with this value as both the old and the new one.
    let begin: () -> Void

    init<Value: Equatable>(_ value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void)
    {
        self.value = value
        isInitial = initial
        compare = { older in
            if let older = older as? Value, older != value { action(older, value) }
        }
        begin = { action(value, value) }
    }
}

/// A scene that waits for a change.
struct SceneWithChange<Content: Scene>: Scene, PrimitiveScene {
    let scene: Content
    let change: SceneChange

    var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {
        collector.visit(scene)
        collector.add(change)
    }
}
