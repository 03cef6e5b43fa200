public import LinuxSystem
import Scheduling
import StrictFiles
import Synchronization
public import TaskModel

/// The configuration at one time.
public struct SettingsSnapshot: Equatable, Sendable {
    /// The values in force.
    public var effective: EffectiveSettings
    /// The same values for people, each with its source.
    public var values: [ConfiguredValue]
    /// The files, the lowest layer first.
    public var files: [ConfigurationFile]
    /// The problems in the files and the environment variables.
    public var problems: [ManifestProblem]

    /// Creates a snapshot.
    public init(
        effective: EffectiveSettings, values: [ConfiguredValue] = [], files: [ConfigurationFile] = [],
        problems: [ManifestProblem] = []
    ) {
        self.effective = effective
        self.values = values
        self.files = files
        self.problems = problems
    }
}

/// Reads the host's configuration from all its sources, and reads the files again when they change.
///
/// If a file has an error, none of its values is used. Instead, the values of its last version without errors
/// stay in force, if there was one. All functions can be called from any thread.
public final class SettingsFiles: Sendable {
    private struct State {
        /// The last version without errors of each file, by path.
        var lastRight: [String: SettingsFile] = [:]
        var latest: SettingsSnapshot
        var watch: PathWatch?
    }

    private let sources: SettingsSources
    private let standard: EffectiveSettings
    private let state: Mutex<State>

    /// Reads the configuration from all sources.
    ///
    /// - Parameters:
    ///   - sources: The sources to read.
    ///   - paths: The default paths.
    /// - Throws: ``SettingsError`` if an environment variable or the file of `--config` has an error, or a
    ///   file in which the word `trust` occurs. Without its values, the host might use unsigned files. An
    ///   error in another file does not throw; it is a problem of the snapshot.
    public init(_ sources: SettingsSources, paths: HostPaths = .standard) throws(SettingsError) {
        self.sources = sources
        standard = EffectiveSettings(paths: paths)
        var lastRight: [String: SettingsFile] = [:]
        let snapshot = Self.read(sources, over: standard, lastRight: &lastRight)
        let needed = snapshot.files.filter { $0.state == .leftOut && Self.mentionsTrust($0.path) }.map(\.path)
        let refused = snapshot.problems.filter { problem in
            problem.severity == .error
                && (problem.file == sources.named || problem.file.hasPrefix("environment ")
                    || needed.contains(problem.file))
        }
        if !refused.isEmpty { throw SettingsError(problems: refused) }
        state = Mutex(State(lastRight: lastRight, latest: snapshot))
    }

    /// Whether a file that has errors could contain the key `trust.keys`.
    private static func mentionsTrust(_ path: String) -> Bool {
        guard let bytes = try? FileContents.read(path, limit: YAMLDocument.maximumSize) else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("trust")
    }

    /// The result of the newest reading.
    public var latest: SettingsSnapshot { state.withLock { $0.latest } }

    /// Starts to watch the files, on a separate thread.
    ///
    /// - Returns: A stream of snapshots, one for each change. A slow reader gets only the newest one. A
    ///   second call ends the first stream.
    /// - Throws: The inotify call that failed.
    public func changes() throws(SystemCallError) -> AsyncStream<SettingsSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SettingsSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let watch = try PathWatch { [weak self] event in
            // If a path can't be watched, its file is still read at the start and whenever another file
            // changes. If the host may not read the file either, the reading reports that.
            guard case .changed = event, let self else { return }
            if self.reread() { continuation.yield(self.latest) }
        }
        continuation.onTermination = { _ in watch.stop() }
        state.withLock { state in
            state.watch?.stop()
            state.watch = watch
            watch.watch(sources.watched())
        }
        // The files may have changed between the first reading and the start of the watch.
        if reread() { continuation.yield(latest) }
        return stream
    }

    /// Reads the files again.
    ///
    /// - Returns: Whether ``latest`` changed.
    @discardableResult
    public func reread() -> Bool {
        state.withLock { state in
            state.watch?.watch(sources.watched())
            let snapshot = Self.read(sources, over: standard, lastRight: &state.lastRight)
            guard snapshot != state.latest else { return false }
            state.latest = snapshot
            return true
        }
    }

    private static func read(
        _ sources: SettingsSources, over standard: EffectiveSettings, lastRight: inout [String: SettingsFile]
    ) -> SettingsSnapshot {
        var layers: [SettingsLayer] = []
        var files: [ConfigurationFile] = []
        var problems: [ManifestProblem] = []
        let places = sources.places()
        lastRight = lastRight.filter { path, _ in places.contains { $0.path == path } }
        for place in places {
            var state = ConfigurationFile.State.inForce
            if place.path != sources.named, DirectoryTree.isMissing(place.path) {
                lastRight[place.path] = nil
                state = .missing
            } else {
                let mayRestrict = place.path != sources.named
                let file = SettingsFile.read(place.path, mayRestrict: mayRestrict, isInForce: true)
                problems += file.problems
                if file.isRight {
                    lastRight[place.path] = file
                } else {
                    state = lastRight[place.path] == nil ? .leftOut : .lastRightVersion
                }
            }
            if let file = lastRight[place.path] { layers.append(SettingsLayer(file)) }
            files.append(ConfigurationFile(path: place.path, layer: place.layer, state: state))
        }
        let environment = SettingsEnvironment.read(sources.environment)
        problems += environment.problems
        layers += [environment.layer, SettingsLayer("options", sources.options)]
        let layered = LayeredSettings(standard: standard, layers: layers)
        return SettingsSnapshot(
            effective: layered.effective, values: layered.values, files: files,
            problems: problems + layered.effective.doubts)
    }

    deinit {
        state.withLock { $0.watch?.stop() }
    }
}

extension EffectiveSettings {
    /// Warnings about values that are valid but contradict each other.
    var doubts: [ManifestProblem] {
        var doubts: [ManifestProblem] = []
        if scheduler.batteryEndPercent > scheduler.batteryStartPercent {
            doubts.append(
                ManifestProblem(
                    severity: .warning, file: "configuration",
                    finding:
                        "scheduling.batteryEndPercent is \(scheduler.batteryEndPercent), above scheduling.batteryStartPercent, which is \(scheduler.batteryStartPercent): between the two, launches would start and be stopped at once",
                    remedy: "Lower batteryEndPercent, or raise batteryStartPercent"))
        }
        if scheduler.stallQuestion >= scheduler.stallLimit {
            doubts.append(
                ManifestProblem(
                    severity: .warning, file: "configuration",
                    finding:
                        "scheduling.stallQuestion is not below stallLimit, so a stalled launch ends before the user is asked",
                    remedy: "Lower stallQuestion, or raise stallLimit"))
        }
        doubts += pushes.doubts.map {
            ManifestProblem(
                severity: .warning, file: "configuration", finding: $0.finding, remedy: $0.remedy)
        }
        return doubts
    }
}
