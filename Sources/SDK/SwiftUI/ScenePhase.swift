/// Whether the user can see and use a scene.
public enum ScenePhase: Comparable, Hashable, Sendable {
    /// The user cannot see the scene.
    case background
    /// The user can see the scene, but it does not receive events.
    case inactive
    /// The user can see and use the scene.
    case active
}

/// Values about the app that scenes can read.
public struct EnvironmentValues: Sendable {
    /// The phase of the app's scenes.
    ///
    /// During an app launch it is `active` at first, then `inactive`, then `background`. In every other
    /// launch it is always `background`.
    public var scenePhase: ScenePhase

    @MainActor static var current = EnvironmentValues(scenePhase: .background)
}

/// Reads a value of ``EnvironmentValues``.
@MainActor @preconcurrency
@propertyWrapper
public struct Environment<Value> {
    /// `nil` for an object, which only content could read.
    private let keyPath: KeyPath<EnvironmentValues, Value>?

    /// Selects the value.
    ///
    /// - Parameter keyPath: The property of ``EnvironmentValues``.
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

    /// Selects an object that `environment(_:)` passes on; for content, which is never evaluated.
    ///
    /// - Parameter objectType: The type of the object; not used.
    public init(_ objectType: Value.Type) where Value: AnyObject & Observable { keyPath = nil }

    /// The current value.
    public var wrappedValue: Value {
        guard let keyPath else { neverAsked() }
        return EnvironmentValues.current[keyPath: keyPath]
    }
}

/// An object that `environmentObject(_:)` passes on; for content, which is never evaluated.
@MainActor @preconcurrency
@propertyWrapper
public struct EnvironmentObject<Object: ObservableObject> {
    /// Makes the wrapper.
    public init() {}

    /// Never asked for.
    public var wrappedValue: Object { neverAsked() }
}

extension Scene {
    /// Calls an action when a value has changed since the last evaluation of the scenes.
    ///
    /// - Parameters:
    ///   - value: The value to observe, usually the scene phase.
    ///   - action: Called with the new value.
    /// - Returns: The scene that observes the value.
    @_disfavoredOverload
    public func onChange<Value: Equatable>(of value: Value, perform action: @escaping (Value) -> Void)
        -> some Scene
    {
        SceneWithChange(scene: self, change: SceneChange(value) { _, new in action(new) })
    }

    /// Calls an action when a value has changed since the last evaluation of the scenes.
    ///
    /// - Parameters:
    ///   - value: The value to observe, usually the scene phase.
    ///   - initial: Whether the action is also called after the first evaluation.
    ///   - action: Called with the old and the new value.
    /// - Returns: The scene that observes the value.
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
    ) -> some Scene {
        SceneWithChange(scene: self, change: SceneChange(value, initial: initial, action))
    }

    /// Calls an action when a value has changed since the last evaluation of the scenes.
    ///
    /// - Parameters:
    ///   - value: The value to observe, usually the scene phase.
    ///   - initial: Whether the action is also called after the first evaluation.
    ///   - action: The action to call.
    /// - Returns: The scene that observes the value.
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some Scene {
        SceneWithChange(scene: self, change: SceneChange(value, initial: initial) { _, _ in action() })
    }
}

/// A value of a scene that an action observes.
@MainActor
struct SceneChange {
    /// The value in this evaluation.
    let value: Any
    /// Whether the action is also called after the first evaluation.
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

/// A scene that observes a value.
struct SceneWithChange<Content: Scene>: Scene, PrimitiveScene {
    let scene: Content
    let change: SceneChange

    var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {
        collector.visit(scene)
        collector.add(change)
    }
}
