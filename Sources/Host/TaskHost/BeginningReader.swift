import Digests
import HandlerRegistry
import HostCore
import HostSettings
import Launching
import LinuxSystem
import Recording
import RequestStore
import Scheduling
import SystemConditions
import TaskModel

/// Reads the values that the core needs before it begins: files, the store and the conditions.
///
/// These reads may block, so they do not run on the host's thread.
struct BeginningReader: Sendable {
    let configuration: HostConfiguration
    let settingsFiles: SettingsFiles
    let moments: any MomentSource
    let log: HostLog
    let store: any RequestStore
    let registry: HandlerRegistry
    let sensors: ConditionSensors
    let directories: StateDirectories
    /// What isolates launches on this machine.
    let isolation: IsolationReport

    /// Records the end of launches that an earlier host left under way, and reads what the core needs to
    /// begin.
    ///
    /// - Throws: The error that prevents the start of the host.
    @concurrent
    func read() async throws -> HostBeginning {
        let registered = registry.scan()
        sensors.define(registered.conditions)
        sensors.watchStorage(registered.needsStorage)
        let now = moments.now()
        var beginning = HostBeginning(
            surroundings: HostSurroundings(
                manifestsDirectory: configuration.manifestsDirectory,
                stateDirectory: configuration.stateDirectory, isolation: isolation,
                taskEnvironment: configuration.taskEnvironment),
            settings: settingsFiles.latest, registered: registered, conditions: sensors.snapshot(),
            localTimeOffset: .seconds(ProcessFacts.localTimeOffset(at: now.wall)))
        beginning.surroundings.device = Self.device
        beginning.localTimeChanges = LocalTimeChange.near(now.wall)
        beginning.earlierHostEnd = earlierHostEnd
        beginning.recovery = try await store.recover(beginning.recoveryTerms(at: now.wall))
        await renameDirectories(beginning.recovery.facts.numberedDirectories)
        beginning.boot = try? SmallFile.read("/proc/sys/kernel/random/boot_id").filter { !$0.isWhitespace }
        try await store.prune(
            keepingNewest: configuration.keptLaunches,
            olderThan: WallTime(sinceEpoch: now.wall.sinceEpoch - configuration.keptAge))
        return beginning
    }

    /// When the host before this one was last known to run; `nil` if there was none.
    ///
    /// Its launcher, which outlives it, or the launcher's guardian, notes its end as the time of
    /// `launcher.lock`; this fails if the machine or all of them ended at once. The other evidence is the
    /// last line of the recording.
    private var earlierHostEnd: WallTime? {
        let recordings = (try? RecordedLog.files(in: configuration.recordingDirectory)) ?? []
        return ([directories.launcherLock] + recordings.suffix(1))
            .compactMap { try? FileIdentity(of: $0) }.map { WallTime(sinceEpoch: $0.modificationTime) }.max()
    }

    /// A number that identifies this machine, on which the jitter of schedules depends.
    ///
    /// It is a part of a digest, because machine-id(5) asks programs to publish no machine id. A machine
    /// without an id uses its host name.
    private static var device: UInt64 {
        let sources = ["/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/hostname"]
        let id = sources.lazy.compactMap { try? SmallFile.read($0).filter { !$0.isWhitespace } }
            .first { !$0.isEmpty }
        let digest = SHA256.hexadecimal(of: Array("bgtask jitter \(id ?? "")".utf8))
        return UInt64(digest.prefix(16), radix: 16) ?? 0
    }

    /// Renames data directories that an older version of the host named by numbers; their new names are those
    /// of the bundles.
    private func renameDirectories(_ numbers: [BundleIdentifier: String]) async {
        for (bundle, number) in numbers.sorted(by: { $0.key < $1.key }) {
            do {
                guard try directories.rename(number: number, for: bundle) else {
                    log.append(
                        .warning,
                        "\(configuration.stateDirectory)/data has two directories of \(bundle); '\(number)' "
                            + "belongs to an older version of the host and is not used. If you need none of "
                            + "its files, remove it")
                    continue
                }
                if case .failure(let refusal) = await store.commit([.remember(.directoryRenamed(bundle))])[0]
                {
                    log.append(
                        .warning,
                        "the data directory '\(number)' of \(bundle), from an older version of the host, has its new "
                            + "name, but the host could not store that: \(refusal). You need not do anything")
                }
            } catch {
                log.append(
                    .error,
                    "\(configuration.stateDirectory)/data/\(number), from an older version of the host, could not "
                        + "be renamed: \(error). The tasks of \(bundle) do not see their files. Stop the host, rename "
                        + "the directory to \(directories.data(of: bundle)), and start the host")
            }
        }
    }
}
