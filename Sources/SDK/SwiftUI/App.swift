@_exported public import Foundation

/// An app; mark one type with `@main`.
///
/// Only the parts that run in the background exist here: scenes with background tasks, and the scene phase.
/// The contents of windows are never evaluated.
@MainActor @preconcurrency
public protocol App {
    /// The type of ``body``.
    associatedtype Body: Scene

    /// The scenes of the app, evaluated when it is launched and again after each change of the scene phase.
    @SceneBuilder var body: Body { get }

    /// Creates the app, when it is launched.
    init()
}

extension App {
    /// The entry point that `@main` calls.
    public static func main() { AppLaunch.run(Self.self) }
}

/// A part of an app: it has windows on iOS, but only background tasks and observed values here.
@MainActor @preconcurrency
public protocol Scene {
    /// The type of ``body``.
    associatedtype Body: Scene

    /// The scenes that this scene consists of.
    @SceneBuilder var body: Body { get }
}

// `body` of both conformances is in the extension below: in an extension that declares a conformance, the
// result builder of that protocol would apply to `body`.
extension Never: Scene {}
extension Never: View {}

extension Never {
    /// Never called.
    public var body: Never { neverAsked() }
}

/// Combines scenes.
@MainActor
@resultBuilder
public enum SceneBuilder {
    /// Returns a single scene unchanged.
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }

    /// Combines several scenes.
    public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> some Scene {
        var scenes: [any Scene] = []
        repeat scenes.append(each content)
        return SceneGroup(scenes: scenes)
    }

    /// Supports `if #available` in a list of scenes.
    public static func buildLimitedAvailability(_ content: any Scene) -> some Scene {
        SceneGroup(scenes: [content])
    }

    /// Supports `if` without `else` in a list of scenes.
    public static func buildOptional(_ content: (any Scene)?) -> some Scene {
        SceneGroup(scenes: content.map { [$0] } ?? [])
    }
}

/// A group of windows; its content is never evaluated.
public struct WindowGroup<Content: View>: Scene, PrimitiveScene {
    /// Makes a group.
    ///
    /// - Parameter content: Never called.
    public init(@ViewBuilder content: @escaping () -> Content) {}

    /// Makes a group with an identifier.
    ///
    /// - Parameters:
    ///   - id: Not used.
    ///   - content: Never called.
    public init(id: String, @ViewBuilder content: @escaping () -> Content) {}

    /// Makes a group with a title.
    ///
    /// - Parameters:
    ///   - title: Not used.
    ///   - content: Never called.
    public init(_ title: some StringProtocol, @ViewBuilder content: @escaping () -> Content) {}

    /// Never called: the group does not consist of other scenes.
    public var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {}
}
