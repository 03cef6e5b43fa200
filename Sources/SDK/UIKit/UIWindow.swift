/// A placeholder for windows, which do not exist here: delegates from Apple's templates have a variable of
/// this type.
open class UIWindow: UIResponder {
    /// The scene of the window.
    open weak var windowScene: UIWindowScene?

    /// Makes a window without a scene.
    public override init() { super.init() }

    /// Makes a window in a scene.
    ///
    /// - Parameter windowScene: The scene.
    public init(windowScene: UIWindowScene) {
        self.windowScene = windowScene
        super.init()
    }

    /// Does nothing, because there is no screen.
    open func makeKeyAndVisible() {}
}
