/// The content of a window; never evaluated here.
@MainActor @preconcurrency
public protocol View {
    /// The type of ``body``.
    associatedtype Body: View

    /// The views that this view consists of; never evaluated here.
    @ViewBuilder var body: Body { get }
}

/// Combines views.
@MainActor
@resultBuilder
public enum ViewBuilder {
    /// Returns a view without content.
    public static func buildBlock() -> EmptyView { EmptyView() }

    /// Returns a single view unchanged.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    /// Discards several views, because views are never shown.
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> EmptyView {
        EmptyView()
    }

    /// Supports `if` without `else` in a list of views.
    public static func buildOptional(_ content: (any View)?) -> EmptyView { EmptyView() }

    /// Supports the first branch of `if` and `else` in a list of views.
    public static func buildEither(first content: any View) -> EmptyView { EmptyView() }

    /// Supports the second branch of `if` and `else` in a list of views.
    public static func buildEither(second content: any View) -> EmptyView { EmptyView() }
}

/// A view without content.
public struct EmptyView: View {
    /// Creates the view.
    public nonisolated init() {}
    /// Never called.
    public var body: Never { neverAsked() }
}

/// A text in a window; never shown here.
public struct Text: View {
    /// Creates a text.
    ///
    /// - Parameter content: The text; not used.
    public nonisolated init(_ content: some StringProtocol) {}
    /// Never called.
    public var body: Never { neverAsked() }
}
