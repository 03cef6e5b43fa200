/// Apple's framework of this name has the same logging as `os`.
@_exported import os
