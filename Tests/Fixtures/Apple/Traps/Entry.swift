import UIKit
import UIKit.UIGestureRecognizerSubclass

@main
final class AppDelegate: NSObject, UIApplicationDelegate {}
