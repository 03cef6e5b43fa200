/// A variable that keeps its value between evaluations of an app's or scene's body.
@MainActor @preconcurrency
@propertyWrapper
public struct State<Value> {
    private final class Storage {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    /// Creates the variable with its initial value.
    ///
    /// - Parameter wrappedValue: The initial value.
    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    /// Creates the variable with its initial value.
    ///
    /// - Parameter initialValue: The initial value.
    public init(initialValue: Value) { storage = Storage(initialValue) }

    /// The present value.
    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }

    /// A reference to the variable.
    public var projectedValue: Binding<Value> {
        Binding {
            storage.value
        } set: {
            storage.value = $0
        }
    }
}

/// A reference to a value that is kept elsewhere.
@propertyWrapper
public struct Binding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    /// Makes a reference.
    ///
    /// - Parameters:
    ///   - get: Returns the value.
    ///   - set: Replaces the value.
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// Makes a reference to a value that never changes.
    ///
    /// - Parameter value: The value.
    /// - Returns: The reference; setting its value has no effect.
    public static func constant(_ value: Value) -> Binding<Value> {
        Binding {
            value
        } set: { _ in
        }
    }

    /// The present value.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    /// The reference itself.
    public var projectedValue: Binding<Value> { self }
}

/// An object whose changes are of interest to views and scenes.
///
/// Apple declares it in Combine, which does not exist here. Bodies are evaluated again only when the scene
/// phase changes, so the object need not announce its changes.
public protocol ObservableObject: AnyObject {}

/// A property of an ``ObservableObject``; it has no publisher, because Combine does not exist here.
@propertyWrapper
public struct Published<Value> {
    /// The present value.
    public var wrappedValue: Value

    /// Creates the property with its initial value.
    ///
    /// - Parameter wrappedValue: The initial value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Creates the property with its initial value.
    ///
    /// - Parameter initialValue: The initial value.
    public init(initialValue: Value) { wrappedValue = initialValue }
}

extension Published: Sendable where Value: Sendable {}

/// An object that an app or scene makes once, and keeps between evaluations of its body.
@MainActor @preconcurrency
@propertyWrapper
public struct StateObject<Object: ObservableObject> {
    private final class Storage {
        private let make: () -> Object
        private(set) lazy var object = make()
        init(_ make: @escaping () -> Object) { self.make = make }
    }

    private let storage: Storage

    /// Keeps how to make the object.
    ///
    /// - Parameter thunk: Makes the object, when it is first used.
    public init(wrappedValue thunk: @autoclosure @escaping () -> Object) {
        storage = Storage(thunk)
    }

    /// The object.
    public var wrappedValue: Object { storage.object }
}

/// An object that something else made and keeps.
@MainActor @preconcurrency
@propertyWrapper
public struct ObservedObject<Object: ObservableObject> {
    /// The object.
    public var wrappedValue: Object

    /// Refers to an object.
    ///
    /// - Parameter wrappedValue: The object.
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}
