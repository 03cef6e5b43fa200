/// The module of this name in Apple's systems; it exports the same logging functions as `os`.
@_exported import os
