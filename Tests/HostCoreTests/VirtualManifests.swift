import HandlerRegistry
import HostSettings
import Scheduling
import TaskModel

/// The contents of the manifest and plugin directories in a virtual world; they may change at any time.
///
/// There are three bundles. `a` has an app, a periodic schedule and a `call:`; `b` has schedules by calendar
/// and by power, and a queue; the tasks of `c` run only in clients.
struct VirtualManifests {
    /// The present form of a bundle.
    enum Variant: CaseIterable {
        /// The complete bundle.
        case whole
        /// The bundle without the task `work`, its schedules and its app.
        case shorter
        /// The task `work` has the kind app refresh.
        case otherKind
        /// The bundle has no library, so its tasks run only in clients.
        case withoutLibrary
        /// The bundle's manifest was removed.
        case gone
    }

    static let bundles = ["com.example.a", "com.example.b", "com.example.c"]
    /// The period of `com.example.a.hourly`.
    static let period = Duration.seconds(3600)
    /// The tolerance of all schedules.
    static let tolerance = Duration.seconds(600)

    private var variants = [Variant.whole, .whole, .whole]
    /// The versions of the bundles' libraries.
    private var versions = [1, 1, 1]

    /// The result of reading the directories.
    private(set) var snapshot = RegistrySnapshot(handlers: [], problems: [])

    /// Further bundles, which no variant changes.
    var others: [PermittedHandler] = [] {
        didSet { read() }
    }

    init() { read() }

    mutating func change(_ bundle: Int, to variant: Variant) {
        variants[bundle] = variant
        read()
    }

    /// Installs another version of a bundle's library.
    mutating func replaceLibrary(of bundle: Int) {
        versions[bundle] += 1
        read()
    }

    /// Restores the complete form of every bundle.
    mutating func restore() {
        variants = [.whole, .whole, .whole]
        read()
    }

    private mutating func read() {
        let handlers = Self.bundles.indices.compactMap { index in
            Self.handler(index, variants[index], version: versions[index])
        }
        snapshot = RegistrySnapshot(handlers: handlers + others, problems: [])
    }

    // MARK: One bundle

    /// The manifests of every variant; built once, because there are many histories.
    private static let manifests: [[Variant: Manifest]] = bundles.indices.map { index in
        var manifests: [Variant: Manifest] = [:]
        for variant in Variant.allCases where variant != .gone {
            manifests[variant] = manifest(index, variant)
        }
        return manifests
    }

    private static func handler(_ index: Int, _ variant: Variant, version: Int) -> PermittedHandler? {
        guard let manifest = manifests[index][variant] else { return nil }
        let hash = manifest.library == nil ? nil : "\(manifest.bundle)-\(version)"
        return PermittedHandler(
            manifestPath: "/m/\(manifest.bundle).yaml", manifest: manifest,
            libraryPath: hash.map { "/s/libraries/\($0)/lib.so" }, libraryHash: hash)
    }

    private static func manifest(_ index: Int, _ variant: Variant) -> Manifest {
        let bundle = bundles[index]
        func task(
            _ name: String, _ kind: TaskKind, _ change: (inout TaskDeclaration) -> Void = { _ in }
        ) -> TaskDeclaration {
            var task = TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).\(name)"), kind: kind)
            change(&task)
            return task
        }
        var tasks = [
            task("refresh", .appRefresh),
            task("powered", .processing) { $0.requiresExternalPower = true },
            task("once", .processing) { $0.isAtMostOnce = true },
            task("export", .continuedProcessing),
        ]
        if variant != .shorter {
            tasks.append(
                task("work", variant == .otherKind ? .appRefresh : .processing) {
                    $0.retry = RetryDeclaration(attempts: 3, backOff: .seconds(30))
                })
        }
        if index == 0 {
            tasks.append(task("call", .processing) { $0.call = CallProgram(library: "/lib/libc.so.6") })
            tasks.append(task("push", .push))
        }
        if variant != .shorter, index == 0 {
            tasks.append(
                task("hourly", .processing) {
                    $0.schedule = Schedule(every: period, tolerance: tolerance)
                })
        }
        if index == 1 {
            tasks.append(
                task("batch", .processing) {
                    $0.queue = QueueDeclaration()
                    $0.queue?.concurrency = variant == .shorter ? 1 : 2
                    $0.queue?.order = variant == .otherKind ? .fifo : .priority
                    $0.retry = RetryDeclaration(attempts: 2, backOff: .seconds(30))
                })
        }
        if variant != .shorter, index == 1 {
            let nightly = Schedule.Timing.calendar(expression: "0 3 * * *", timeZone: nil)
            tasks.append(
                task("nightly", .processing) {
                    $0.schedule = Schedule(timing: nightly, tolerance: tolerance)
                })
            tasks.append(
                task("plugged", .processing) {
                    $0.schedule = Schedule(timing: nil, tolerance: tolerance)
                    $0.schedule?.onPower = true
                    $0.schedule?.onBoot = true
                })
        }
        var manifest = Manifest(
            bundle: try! BundleIdentifier(bundle),
            library: variant == .withoutLibrary || index == 2 ? nil : "lib.so",
            modes: [.fetch, .processing, .remoteNotification], tasks: tasks, sandbox: SandboxDeclaration())
        if index == 0, variant == .whole || variant == .otherKind {
            manifest.appLaunch = try! TaskIdentifier("\(bundle).app")
        }
        return manifest
    }

    // MARK: Settings

    /// Settings that an operator may choose: the standard ones, no slot for deferrable launches, and one slot
    /// without spacing.
    static let settings: [SettingsSnapshot] = {
        var closed = SchedulerSettings()
        closed.discretionarySlots = 0
        var narrow = SchedulerSettings()
        narrow.discretionarySlots = 1
        narrow.launchSpacing = .zero
        narrow.refreshSpacing = .seconds(60)
        narrow.attemptsWithoutProgress = 2
        return [SchedulerSettings(), closed, narrow].map { settings in
            var effective = EffectiveSettings(
                paths: HostPaths(plugins: "/p", manifests: "/m", state: "/s", socket: "/s/c"))
            effective.scheduler = settings
            return SettingsSnapshot(effective: effective)
        }
    }()
}
