import HandlerRegistry
import HostCore
import HostSettings
import MemoryStore
import Scheduling
import TaskModel

/// What a virtual host finds when it begins, besides what its own store holds.
struct VirtualBeginning {
    /// The rules' numbers.
    var settings = SchedulerSettings()
    /// What is installed.
    var manifests: [Manifest] = []
    /// What the machine is like.
    var conditions = Conditions.simulatedStart
    /// How far local time is ahead of UTC.
    var localTimeOffset = Duration.zero
    /// Whether the machine was booted since the last host began.
    var isBooted = false
    /// What the store of an earlier host remembered of bundles.
    var bundleStates: [BundleIdentifier: BundleState] = [:]
    /// What was pending in the store of an earlier host.
    var pending: [TaskRequest] = []
    /// The newest launches of an earlier host.
    var lastLaunches: [TaskIdentifier: WallTime] = [:]
}

extension SettingsSnapshot {
    /// A configuration of these numbers, and of standard values otherwise.
    static func virtual(_ settings: SchedulerSettings) -> SettingsSnapshot {
        var effective = EffectiveSettings(paths: HostPaths(plugins: "", manifests: "", state: "", socket: ""))
        effective.scheduler = settings
        return SettingsSnapshot(effective: effective)
    }
}

extension RegistrySnapshot {
    /// Manifests whose tasks can all be launched.
    ///
    /// Their libraries have no hash: nothing is known of versions, so no app is launched because it is new,
    /// and no version is given advice.
    static func virtual(_ manifests: [Manifest]) -> RegistrySnapshot {
        RegistrySnapshot(
            handlers: manifests.map {
                PermittedHandler(
                    manifestPath: "\($0.bundle).yaml", manifest: $0, libraryPath: $0.library ?? "virtual",
                    libraryHash: nil)
            }, problems: [])
    }
}

extension HostBeginning {
    /// What a host reads of a world and of a store in which the launches of a dead host have ended.
    init(_ world: VirtualBeginning, store: inout MemoryStore, at now: WallTime) {
        self.init(
            surroundings: HostSurroundings(
                manifestsDirectory: "", stateDirectory: "", isolation: "", taskEnvironment: []),
            settings: .virtual(world.settings), registered: .virtual(world.manifests),
            conditions: world.conditions, localTimeOffset: world.localTimeOffset)
        surroundings.keepsExplanations = false
        for request in world.pending { store.restore(request) }
        store.facts.bundleStates.merge(world.bundleStates) { $1 }
        // Boots are numbered; the store has the one that the last host noticed.
        let known = store.facts.boot ?? "1"
        store.facts.boot = known
        boot = world.isBooted ? "\((Int(known) ?? 1) + 1)" : known
        lost =
            store.recover(
                at: now,
                isAtMostOnce: { bundle, identifier in
                    world.manifests.first { $0.bundle == bundle }?.declaration(for: identifier)?.isAtMostOnce
                        ?? false
                }, backOff: { now + world.settings.backOff(afterAttempt: $0.attempt) }
            ).lost
        facts = store.facts
        pending = store.pendingRequests
        let scheduled = world.manifests.flatMap(\.tasks).filter { $0.schedule != nil }.map(\.pattern.base)
        for identifier in scheduled { lastLaunches[identifier] = world.lastLaunches[identifier] }
    }
}
