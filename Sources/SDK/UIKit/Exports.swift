// Files for iOS that import a framework use Observation without importing it.
@_exported public import Observation
