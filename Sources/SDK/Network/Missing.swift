/// Not here: the module has only ``NWPathMonitor``.
@available(*, unavailable, message: "Linux has no NWConnection. Use URLSession, or the package swift-nio")
public final class NWConnection {}

/// Not here: the module has only ``NWPathMonitor``.
@available(*, unavailable, message: "Linux has no NWListener. Use the package swift-nio")
public final class NWListener {}

/// Not here: the module has only ``NWPathMonitor``.
@available(*, unavailable, message: "Linux has no NWBrowser")
public final class NWBrowser {}
