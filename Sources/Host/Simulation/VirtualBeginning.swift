import HandlerRegistry
import HostCore
import HostSettings
import MemoryStore
import Scheduling
import TaskModel

/// The facts with which a virtual host starts, in addition to those in its store.
struct VirtualBeginning {
    /// The settings of the scheduler.
    var settings = SchedulerSettings()
    /// The installed manifests.
    var manifests: [Manifest] = []
    /// The conditions of the machine.
    var conditions = Conditions.simulatedStart
    /// Local time minus UTC.
    var localTimeOffset = Duration.zero
    /// The changes of the clocks near the beginning.
    var localTimeChanges: [LocalTimeChange] = []
    /// Whether the machine was booted after the last host started.
    var isBooted = false
    /// The states of bundles that a recorded host had stored.
    var bundleStates: [BundleIdentifier: BundleState] = [:]
    /// The pause of all bundles that a recorded host had stored.
    var hostPause: Pause?
    /// The requests that were pending in the store of a recorded host.
    var pending: [TaskRequest] = []
    /// The newest launch of each identifier before the host started.
    var lastLaunches: [TaskIdentifier: WallTime] = [:]
}

extension SettingsSnapshot {
    /// Settings with these numbers for the scheduler, and standard values otherwise.
    static func virtual(_ settings: SchedulerSettings) -> SettingsSnapshot {
        var effective = EffectiveSettings(paths: HostPaths(plugins: "", manifests: "", state: "", socket: ""))
        effective.scheduler = settings
        return SettingsSnapshot(effective: effective)
    }
}

extension RegistrySnapshot {
    /// A snapshot in which all tasks of these manifests can be launched.
    ///
    /// The libraries have no hash, so no app is launched because its version is new, and no advice is stored.
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
    /// What a host reads when it starts; open launches in the store are ended as lost first.
    init(_ world: VirtualBeginning, store: inout MemoryStore, at now: WallTime) {
        self.init(
            surroundings: HostSurroundings(
                manifestsDirectory: "", stateDirectory: "", taskEnvironment: []),
            settings: .virtual(world.settings), registered: .virtual(world.manifests),
            conditions: world.conditions, localTimeOffset: world.localTimeOffset)
        surroundings.keepsExplanations = false
        localTimeChanges = world.localTimeChanges
        for request in world.pending { store.restore(request) }
        if let pause = world.hostPause { store.facts.pause = pause }
        store.facts.bundleStates.merge(world.bundleStates) { $1 }
        // Boots are numbered here. The store contains the number of the last known boot.
        let known = store.facts.boot ?? "1"
        store.facts.boot = known
        boot = world.isBooted ? "\((Int(known) ?? 1) + 1)" : known
        let terms = recoveryTerms(at: now)
        recovery = store.recover(terms)
        // `world` also has the launches that this store has pruned, and those of earlier hosts.
        for identifier in terms.scheduled {
            recovery.lastLaunches[identifier] = world.lastLaunches[identifier]
        }
    }
}
