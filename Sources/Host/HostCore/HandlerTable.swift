import TaskModel

/// The handlers in force, arranged for look-ups that cost the same however many there are.
struct HandlerTable: Sendable {
    private var byBundle: [BundleIdentifier: PermittedHandler] = [:]
    /// The hashes of all host-owned copies of libraries that manifests name.
    private(set) var libraryCopies: Set<String> = []

    init(_ handlers: [PermittedHandler] = []) {
        byBundle.reserveCapacity(handlers.count)
        for handler in handlers {
            // The registry refuses a second manifest of a bundle.
            if byBundle[handler.manifest.bundle] == nil { byBundle[handler.manifest.bundle] = handler }
            libraryCopies.formUnion(handler.libraryCopies)
        }
    }

    /// The bundle's handler.
    subscript(bundle: BundleIdentifier) -> PermittedHandler? { byBundle[bundle] }
}
