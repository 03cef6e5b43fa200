import LinuxSystem
import Synchronization
public import TaskModel

/// What the registry found: everything that may run, and everything that is wrong.
public struct RegistrySnapshot: Equatable, Sendable {
    /// What may run, by manifest path.
    public var handlers: [PermittedHandler]
    /// The custom conditions, by name.
    public var conditions: [CustomCondition]
    /// What was found wrong, by file, line and column; warnings included.
    public var problems: [ManifestProblem]

    public init(
        handlers: [PermittedHandler], conditions: [CustomCondition] = [], problems: [ManifestProblem]
    ) {
        self.handlers = handlers
        self.conditions = conditions
        self.problems = problems
    }
}

/// Reads the directories of manifests, plugins and conditions, and decides what may run.
///
/// Callable from any thread; scans follow one another.
public final class HandlerRegistry: Sendable {
    private let manifestsDirectory: String
    private let pluginsDirectory: String
    private let conditionsDirectory: String?
    private let scanner: Mutex<RegistryScanner>
    /// Apart from the scanner, so that those who ask for it never wait for a scan.
    private let newest = Mutex(RegistrySnapshot(handlers: [], problems: []))
    private let watch = Mutex<DirectoryWatch?>(nil)
    /// What was seen of the directories when the last scan began.
    private let seen = Mutex<Sight?>(nil)
    private let scanCount = Mutex(0)

    /// What tells that nothing in the directories has changed, without looking at their files.
    private struct Sight: Equatable {
        /// How many changes the watch had noticed.
        var changes: Int
        var directories: [FileIdentity]
    }

    /// Makes a registry; nothing is read yet, and the directories need not exist.
    ///
    /// - Parameters:
    ///   - manifestsDirectory: Every `*.yaml` and `*.yml` in it is a manifest; names that begin with a dot
    ///     are not.
    ///   - pluginsDirectory: Where `library:` is looked up.
    ///   - libraryCacheDirectory: Where the host's copies go, one directory a hash; made if it is missing.
    ///   - conditionsDirectory: Every `*.yaml` and `*.yml` in it defines a custom condition; `nil` has none.
    public init(
        manifestsDirectory: String, pluginsDirectory: String, libraryCacheDirectory: String,
        conditionsDirectory: String? = nil
    ) {
        self.conditionsDirectory = conditionsDirectory
        self.manifestsDirectory = manifestsDirectory
        self.pluginsDirectory = pluginsDirectory
        scanner = Mutex(
            RegistryScanner(
                manifestsDirectory: manifestsDirectory, pluginsDirectory: pluginsDirectory,
                libraryCacheDirectory: libraryCacheDirectory, conditionsDirectory: conditionsDirectory))
    }

    /// Looks at all manifests, conditions and libraries again, and reads those that have changed.
    ///
    /// A file that is broken now but was right before keeps its old version active, and shows the problem.
    public func scan() -> RegistrySnapshot {
        scanner.withLock { scan(&$0) }
    }

    /// Scans, unless it is known that a scan would find what the last one found.
    ///
    /// It is known while ``changes()`` watches the directories and has seen no change in them, every manifest
    /// and library is a file of its directory, and there are no errors, which files elsewhere could have
    /// corrected.
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

    /// `nil` without a watch, or if it has something to report.
    private func sight() -> Sight? {
        guard let changes = watch.withLock({ $0?.settledChangeCount }) else { return nil }
        let identities = directories.map { try? FileIdentity(of: $0) }
        return Sight(changes: changes, directories: identities.compactMap(\.self))
    }

    /// The newest scan's snapshot; empty before the first.
    ///
    /// Never waits for a scan.
    public var latest: RegistrySnapshot { newest.withLock { $0 } }

    /// How often the directories were scanned, and how many manifests were read; for tests.
    var work: (scans: Int, reads: Int) {
        (scanCount.withLock { $0 }, scanner.withLock { $0.manifests.readCount })
    }

    private var directories: [String] {
        [manifestsDirectory, pluginsDirectory] + [conditionsDirectory].compactMap(\.self)
    }

    /// Removes the host's copies of libraries that no manifest names any more.
    ///
    /// - Parameter inUse: The copies to keep as well, as ``TaskModel/PermittedHandler/libraryCopies`` names
    ///   them: those of launches that still run.
    /// - Returns: How many were removed; none before the first ``scan()``.
    /// - Throws: The call that failed; what was not removed yet stays.
    public func removeUnusedCopies(keeping inUse: Set<String>) throws -> Int {
        try scanner.withLock { try $0.removeUnusedCopies(keeping: inUse) }
    }

    /// Watches the directories by inotify on a thread of its own.
    ///
    /// - Returns: The newest snapshot whenever it differs from the last one, that of ``scan()`` included; a
    ///   consumer that is late gets the newest only. One stream at a time: a second call ends the first.
    /// - Throws: The inotify call that failed.
    public func changes() throws -> AsyncStream<RegistrySnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RegistrySnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let watch = try DirectoryWatch(directories) { [weak self] in
            guard let self else { return }
            // Inside the lock, so that the newest snapshot is also the last one yielded.
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
