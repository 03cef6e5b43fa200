// Files for iOS that import this module use Dispatch and Foundation without importing them.
@_exported public import Foundation
