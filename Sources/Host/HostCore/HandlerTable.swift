import TaskModel

/// The handlers in force; the time of a look-up does not depend on their number.
struct HandlerTable: Sendable {
    private var byBundle: [BundleIdentifier: PermittedHandler] = [:]
    /// The hashes of the libraries that manifests name; the host keeps a copy of each library under its hash.
    private(set) var libraryCopies: Set<String> = []

    init(_ handlers: [PermittedHandler] = []) {
        byBundle.reserveCapacity(handlers.count)
        for handler in handlers {
            if byBundle[handler.manifest.bundle] == nil { byBundle[handler.manifest.bundle] = handler }
            libraryCopies.formUnion(handler.libraryCopies)
        }
    }

    /// The handler of a bundle; `nil` if no manifest in force has the bundle.
    subscript(bundle: BundleIdentifier) -> PermittedHandler? { byBundle[bundle] }
}
