import HandlerRegistry
import TaskModel

/// The host's copies of libraries, which go when nobody needs them.
extension TaskHost {
    /// Removes the copies that no manifest names and no launch uses.
    ///
    /// While a launch is being recorded it is not known yet what it uses: its end, or the next change, does it then.
    func removeUnusedCopies() {
        guard starting.isEmpty else { return }
        var inUse = registered.handlers.reduce(into: Set<String>()) { $0.formUnion($1.libraryCopies) }
        for launch in running.values { inUse.formUnion(launch.libraryCopies) }
        do {
            let count = try registry.removeUnusedCopies(keeping: inUse)
            if count > 0 { log.append(.debug, "\(count) copies of libraries were removed that nobody uses") }
        } catch {
            // They only take room; the next change of a manifest or the next start tries again.
            log.append(.warning, "unused copies of libraries stay: \(error)")
        }
    }

    /// The same after a launch, where it used one that no manifest names any more.
    func removeCopies(after launch: RunningLaunch) {
        let named = registered.handlers.reduce(into: Set<String>()) { $0.formUnion($1.libraryCopies) }
        if !launch.libraryCopies.isSubset(of: named) { removeUnusedCopies() }
    }
}
