@_exported public import Foundation

/// An app: mark one type with `@main`.
///
/// Only what runs in the background is here: scenes with their background tasks, and the scene phase. The
/// content of windows is never asked for.
@MainActor @preconcurrency
public protocol App {
    /// The scenes' type.
    associatedtype Body: Scene

    /// The scenes; evaluated once when the app is launched, and again when the scene phase has changed.
    @SceneBuilder var body: Body { get }

    /// Makes the app, while it launches.
    init()
}

extension App {
    /// What `@main` calls.
    public static func main() { AppLaunch.run(Self.self) }
}

/// A part of an app that on iOS has windows; here it carries background tasks and waits for changes of a
/// value.
@MainActor @preconcurrency
public protocol Scene {
    /// The type of what it is made of.
    associatedtype Body: Scene

    /// What it is made of.
    @SceneBuilder var body: Body { get }
}

// The witness of both stands apart: next to a conformance it would be read by the builder of that protocol.
extension Never: Scene {}
extension Never: View {}

extension Never {
    /// Never asked for.
    public var body: Never { neverAsked() }
}

/// Puts scenes together.
@MainActor
@resultBuilder
public enum SceneBuilder {
    /// One scene.
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }

    /// Several scenes.
    public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> some Scene {
        var scenes: [any Scene] = []
        repeat scenes.append(each content)
        return SceneGroup(scenes: scenes)
    }

    /// A scene on a condition of availability.
    public static func buildLimitedAvailability(_ content: any Scene) -> some Scene {
        SceneGroup(scenes: [content])
    }

    /// A scene on a condition.
    public static func buildOptional(_ content: (any Scene)?) -> some Scene {
        SceneGroup(scenes: content.map { [$0] } ?? [])
    }
}

/// A group of windows; its content is never asked for.
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

    /// A group is primitive.
    public var body: Never { neverAsked() }

    func collect(into collector: SceneCollector) {}
}
