public import UIKit

/// Gives an app a delegate, which is launched before the scenes are evaluated.
@MainActor @preconcurrency
@propertyWrapper
public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
    /// The delegate.
    public let wrappedValue: Delegate

    /// Makes the delegate.
    ///
    /// - Parameter type: The delegate's class.
    public init(_ type: Delegate.Type = Delegate.self) {
        wrappedValue = Launching.make(Delegate.self)
        DelegateBook.delegate = wrappedValue
    }
}

/// Where an adaptor leaves its delegate for the launch.
@MainActor
enum DelegateBook {
    static var delegate: (any UIApplicationDelegate)?
}
