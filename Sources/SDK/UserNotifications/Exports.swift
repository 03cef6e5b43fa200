// Files for iOS that import this module use Foundation without importing it.
@_exported public import Foundation
