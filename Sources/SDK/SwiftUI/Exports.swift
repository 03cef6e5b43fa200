// Files for iOS that import a framework use Observation without importing it, and UIKit beside SwiftUI.
@_exported public import Observation
@_exported public import UIKit
