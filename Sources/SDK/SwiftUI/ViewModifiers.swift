// Modifiers that stand on the content of a scene. The content is never evaluated, so none of them has an
// effect; they exist so that the code compiles.

extension View {
    /// Has no effect, because content is never shown.
    public nonisolated func environmentObject(_ object: some ObservableObject) -> some View { self }

    /// Has no effect, because content is never shown.
    public nonisolated func environment<Object: AnyObject & Observable>(_ object: Object?) -> some View {
        self
    }

    /// Has no effect, because content is never shown.
    public nonisolated func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View { self }

    /// Has no effect, because content never appears.
    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View { self }

    /// Has no effect, because content never disappears.
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }

    /// Has no effect, because content never appears; use ``Scene/backgroundTask(_:action:)``.
    public nonisolated func task(
        priority: TaskPriority = .userInitiated, _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }

    /// Has no effect, because content never appears; use ``Scene/backgroundTask(_:action:)``.
    public nonisolated func task<ID: Equatable>(
        id value: ID, priority: TaskPriority = .userInitiated,
        _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }

    /// Has no effect, because content is never evaluated; write it behind the scene instead.
    @_disfavoredOverload
    public nonisolated func onChange<Value: Equatable>(
        of value: Value, perform action: @escaping (Value) -> Void
    ) -> some View { self }

    /// Has no effect, because content is never evaluated; write it behind the scene instead.
    public nonisolated func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
    ) -> some View { self }

    /// Has no effect, because content is never evaluated; write it behind the scene instead.
    public nonisolated func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { self }

    /// Has no effect, because no URL is opened.
    public nonisolated func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }

    /// Has no effect, because content is never shown.
    public nonisolated func padding(_ length: Double? = nil) -> some View { self }
}

extension Scene {
    /// Has no effect, because content is never shown.
    public func environmentObject(_ object: some ObservableObject) -> some Scene { self }

    /// Has no effect, because content is never shown.
    public func environment<Object: AnyObject & Observable>(_ object: Object?) -> some Scene { self }

    /// Has no effect, because content is never shown.
    public func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some Scene { self }
}
