import HandlerRegistry
import HostCore
import HostSettings

extension TaskHost {
    /// Reads the configuration, the manifests and the custom conditions again.
    ///
    /// The host does so by itself when their files change. This is for file systems that report no changes,
    /// and for those who want to know when it is done: what was read is in force when the function returns.
    public func reload() async {
        await untilBegun()
        await worker.run { [settingsFiles, registry] in
            settingsFiles.reread()
            _ = registry.scan()
        }
        hearNow(.settings(settingsFiles.latest))
        hearNow(.registered(registry.latest))
    }

    /// The numbers of handlers, pending requests and launches under way, as soon as the host has begun.
    public func counts() async -> (handlers: Int, pending: Int, running: Int) {
        await untilBegun()
        return core.counts
    }
}
