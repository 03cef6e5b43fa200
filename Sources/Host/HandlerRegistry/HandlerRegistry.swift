import LinuxSystem
public import Signatures
import Synchronization
public import TaskModel

/// The result of a scan: the handlers that may run, and all problems.
public struct RegistrySnapshot: Equatable, Sendable {
    /// The handlers that may run, sorted by the path of their manifest.
    public var handlers: [PermittedHandler]
    /// The custom conditions, sorted by name.
    public var conditions: [CustomCondition]
    /// The problems, warnings included, sorted by file, line and column.
    public var problems: [ManifestProblem]

    public init(
        handlers: [PermittedHandler], conditions: [CustomCondition] = [], problems: [ManifestProblem]
    ) {
        self.handlers = handlers
        self.conditions = conditions
        self.problems = problems
    }

    /// Whether a task depends on the free space of the data directories.
    public var needsStorage: Bool {
        handlers.contains { handler in
            handler.manifest.tasks.contains { task in
                task.constraints?.storage != nil
                    || task.constraints?.when?.tests.contains { $0.fact == .machine(.storage) } == true
            }
        }
    }
}

/// Reads the directories of manifests, plugins and conditions, and decides which handlers may run.
///
/// Any thread may call the methods. Scans run one at a time.
public final class HandlerRegistry: Sendable {
    /// The files and directories of the host that no task may write to.
    public let hostFiles: HostFiles
    private let manifestsDirectory: String
    private let pluginsDirectory: String
    private let conditionsDirectory: String?
    private let scanner: Mutex<RegistryScanner>
    /// The result of the newest scan; it has a lock of its own, so that reading it never waits for a scan.
    private let newest = Mutex(RegistrySnapshot(handlers: [], problems: []))
    private let watch = Mutex<DirectoryWatch?>(nil)
    /// The state of the directories when the last scan began; `nil` if it is not known.
    private let seen = Mutex<Sight?>(nil)
    private let scanCount = Mutex(0)

    /// A state of the directories; if it is unchanged, no file in them was added, removed or written.
    private struct Sight: Equatable {
        /// How many changes the inotify watch had reported.
        var changes: Int
        var directories: [FileIdentity]
    }

    /// Creates a registry; nothing is read yet, and the directories need not exist.
    ///
    /// - Parameters:
    ///   - manifestsDirectory: Every `*.yaml` and `*.yml` in it is a manifest, except names that begin with a
    ///     dot.
    ///   - pluginsDirectory: The directory of the files that `library:` names.
    ///   - libraryCacheDirectory: The directory for the host's copies of libraries, with a subdirectory for
    ///     each hash; created when needed.
    ///   - conditionsDirectory: Every `*.yaml` and `*.yml` in it defines a custom condition; `nil` means
    ///     none.
    ///   - stateDirectory: The host's state directory, for which no manifest may have a write grant; `nil`
    ///     for none.
    ///   - configuration: The files and directories of the host's configuration, which no manifest may have a
    ///     write grant for either.
    ///   - programs: The host's programs, for which the same holds, and for their directories.
    ///   - controlSocket: The control socket, for which the same holds.
    ///   - startup: Files from which the machine starts programs; see ``StartupFiles``.
    ///   - signatures: The signatures that manifests, conditions and libraries must have; by default none.
    public init(
        manifestsDirectory: String, pluginsDirectory: String, libraryCacheDirectory: String,
        conditionsDirectory: String? = nil, stateDirectory: String? = nil,
        configuration: [String] = [], programs: [String] = [], controlSocket: String? = nil,
        startup: [String] = [], signatures: SignatureRule = SignatureRule()
    ) {
        hostFiles = HostFiles(
            manifests: [manifestsDirectory], plugins: pluginsDirectory, conditions: conditionsDirectory,
            state: stateDirectory, configuration: configuration, programs: programs,
            controlSocket: controlSocket, startup: startup)
        self.conditionsDirectory = conditionsDirectory
        self.manifestsDirectory = manifestsDirectory
        self.pluginsDirectory = pluginsDirectory
        scanner = Mutex(
            RegistryScanner(
                manifestsDirectory: manifestsDirectory, pluginsDirectory: pluginsDirectory,
                libraryCacheDirectory: libraryCacheDirectory, conditionsDirectory: conditionsDirectory,
                hostFiles: hostFiles, signatures: signatures))
    }

    /// Checks all manifests, conditions and libraries, and reads those that have changed.
    ///
    /// If a file was valid before and now has errors, its old version stays active and the errors are
    /// reported.
    public func scan() -> RegistrySnapshot {
        scanner.withLock { scan(&$0) }
    }

    /// Scans, unless the result can't differ from that of the last scan.
    ///
    /// The result can't differ if ``changes()`` watches the directories and has seen no change, no manifest
    /// or library is a link, and the last scan found no errors. (A file elsewhere could have corrected an
    /// error.)
    public func refresh() -> RegistrySnapshot {
        scanner.withLock { scanner in
            if let last = scanner.last, !scanner.manifests.hasLinks, !scanner.libraries.hasLinks,
                !last.problems.contains(where: { $0.severity == .error }), let sight = sight(),
                seen.withLock({ $0 == sight })
            {
                return last
            }
            return scan(&scanner)
        }
    }

    private func scan(_ scanner: inout RegistryScanner) -> RegistrySnapshot {
        let sight = sight()
        let snapshot = scanner.scan()
        seen.withLock { $0 = sight }
        newest.withLock { $0 = snapshot }
        scanCount.withLock { $0 += 1 }
        return snapshot
    }

    /// The present state of the directories; `nil` without a watch, or while changes wait to be reported.
    private func sight() -> Sight? {
        guard let changes = watch.withLock({ $0?.settledChangeCount }) else { return nil }
        let identities = directories.map { try? FileIdentity(of: $0) }
        return Sight(changes: changes, directories: identities.compactMap(\.self))
    }

    /// The result of the newest scan; empty before the first scan.
    ///
    /// Reading it never waits for a scan.
    public var latest: RegistrySnapshot { newest.withLock { $0 } }

    /// How many scans were made and how many manifests were read; for tests.
    var work: (scans: Int, reads: Int) {
        (scanCount.withLock { $0 }, scanner.withLock { $0.manifests.readCount })
    }

    private var directories: [String] {
        [manifestsDirectory, pluginsDirectory] + [conditionsDirectory].compactMap(\.self)
    }

    /// Removes the host's copies of libraries that no manifest names any more.
    ///
    /// - Parameter inUse: The names of copies to keep for running launches; see
    ///   ``TaskModel/PermittedHandler/libraryCopies``.
    /// - Returns: The number of removed copies; 0 before the first ``scan()``.
    /// - Throws: The error of the failed system call; the remaining copies stay.
    public func removeUnusedCopies(keeping inUse: Set<String>) throws -> Int {
        try scanner.withLock { try $0.removeUnusedCopies(keeping: inUse) }
    }

    /// Watches the directories with inotify, on another thread, and scans after each change.
    ///
    /// - Returns: A stream of results that differ from the one before; a slow consumer gets only the newest.
    ///   There is one stream at a time: another call of this method ends the first stream.
    /// - Throws: The error of the failed inotify call.
    public func changes() throws -> AsyncStream<RegistrySnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RegistrySnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let watch = try DirectoryWatch(directories) { [weak self] in
            guard let self else { return }
            // The lock is held while yielding, so that the last value in the stream is the newest.
            scanner.withLock { scanner in
                let last = scanner.last
                let next = self.scan(&scanner)
                if next != last { continuation.yield(next) }
            }
        }
        continuation.onTermination = { _ in watch.stop() }
        self.watch.withLock { old in
            old?.stop()
            old = watch
        }
        return stream
    }

    deinit {
        watch.withLock { $0?.stop() }
    }
}
