public import UIKit

/// Gives an app a delegate, which is created and launched before the scenes are evaluated.
@MainActor @preconcurrency
@propertyWrapper
public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
    /// The delegate.
    public let wrappedValue: Delegate

    /// Creates the delegate.
    ///
    /// - Parameter type: The class of the delegate.
    public init(_ type: Delegate.Type = Delegate.self) {
        wrappedValue = Launching.make(Delegate.self)
        DelegateBook.delegate = wrappedValue
    }
}

/// Passes the delegate from the property wrapper to the launch of the app.
@MainActor
enum DelegateBook {
    static var delegate: (any UIApplicationDelegate)?
}
