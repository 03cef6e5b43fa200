/// What a window shows; never asked for here.
@MainActor @preconcurrency
public protocol View {
    /// The type of what it is made of.
    associatedtype Body: View

    /// What it is made of; never asked for here.
    @ViewBuilder var body: Body { get }
}

/// Puts views together.
@MainActor
@resultBuilder
public enum ViewBuilder {
    /// No view.
    public static func buildBlock() -> EmptyView { EmptyView() }

    /// One view.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    /// Several views.
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> EmptyView {
        EmptyView()
    }

    /// A view on a condition.
    public static func buildOptional(_ content: (any View)?) -> EmptyView { EmptyView() }

    /// One of two views.
    public static func buildEither(first content: any View) -> EmptyView { EmptyView() }

    /// The other of two views.
    public static func buildEither(second content: any View) -> EmptyView { EmptyView() }
}

/// A view without content.
public struct EmptyView: View {
    /// Creates the view.
    public nonisolated init() {}
    /// Never asked for.
    public var body: Never { neverAsked() }
}

/// A text, as placeholders in an app's window have it.
public struct Text: View {
    /// Creates a text that is never shown, as a handler has no window.
    ///
    /// - Parameter content: The text.
    public nonisolated init(_ content: some StringProtocol) {}
    /// Never asked for.
    public var body: Never { neverAsked() }
}

/// Keeps a value of an app or a scene.
@MainActor @preconcurrency
@propertyWrapper
public struct State<Value> {
    private final class Storage {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    /// Begins with a value.
    ///
    /// - Parameter wrappedValue: The value.
    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    /// The value.
    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }
}
