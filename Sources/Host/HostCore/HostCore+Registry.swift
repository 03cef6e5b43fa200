import HandlerRegistry
import Scheduling
import TaskModel

/// The manifests and plugins in force: changes of them, and look-ups.
extension HostCore {
    /// Applies a new snapshot of the manifests and plugins.
    mutating func take(_ found: RegistrySnapshot) {
        let snapshot = found.placed(onDevice: surroundings.device)
        let (before, handlersBefore) = (registered, handlers)
        if snapshot == before { return }
        registered = snapshot
        let known = Set(before.problems)
        for problem in snapshot.problems where !known.contains(problem) {
            log(problem.logLevel, "\(problem)")
        }
        for handler in snapshot.handlers where handlersBefore[handler.manifest.bundle] != handler {
            log(.notice, "installed \(handler.manifest.bundle)")
        }
        for handler in before.handlers where handlers[handler.manifest.bundle] != handler {
            let isGone = handlers[handler.manifest.bundle] == nil
            if isGone { log(.notice, "removed \(handler.manifest.bundle)") }
            emit(.retire(handler.manifest.bundle))
        }
        removeUnusedCopies()
        forgetOldAdvice()
        applySchedules()
        emit(.work(.defineConditions(snapshot.conditions)))
        if snapshot.needsStorage != before.needsStorage {
            emit(.work(.watchStorage(snapshot.needsStorage)))
        }
        feed(.handlersChanged(snapshot.handlers.map(\.manifest)))
        requests.touchQueues()
        let present = handlers
        endPausesOfOldLibraries { handlersBefore[$0] != present[$0] }
        emit(.work(.removeApps(keeping: installedBundles)))
        // The scheduler admits the app launches below, so it must have the new manifests first.
        drainEvents()
        launchInstalledApps()
        // After the change, some requests may only run in a client, and that client may be gone.
        cancelWithoutClient()
    }

    var installedBundles: Set<BundleIdentifier> { Set(registered.handlers.map(\.manifest.bundle)) }

    // MARK: Pauses because of crashes

    /// Logs that the host has paused a bundle whose launches crash again and again.
    mutating func notice(_ pause: Pause?, of bundle: BundleIdentifier) {
        guard let pause, let crashes = pause.crashes else {
            crashing.remove(bundle)
            return
        }
        guard crashing.insert(bundle).inserted else { return }
        log(
            .error,
            "\(bundle) is paused, because \(crashes.counted("launch", "launches")) in a row crashed. The pause ends "
                + "when the bundle has another library, or without a library another manifest. To end it now: bgtask resume \(bundle). "
                + "To launch a task in spite of it: bgtask launch IDENTIFIER")
    }

    /// Ends the pauses of bundles that crashed with another library than the present one.
    ///
    /// - Parameter changed: Whether the handler of a bundle has changed. This decides for a bundle without a
    ///   library, whose manifest calls the functions of an installed one.
    mutating func endPausesOfOldLibraries(changed: (BundleIdentifier) -> Bool) {
        for handler in registered.handlers {
            let bundle = handler.manifest.bundle
            guard let pause = scheduler.bundleState(bundle).crashPause,
                pause.library != handler.libraryHash || (pause.library == nil && changed(bundle))
            else { continue }
            log(.notice, "\(bundle) has another library, so its pause because of crashes ends")
            feed(.crashPauseEnded(bundle))
        }
    }

    // MARK: Looking up

    /// The handler whose manifest permits an identifier; `nil` if there is none.
    ///
    /// An exact identifier wins over a wildcard, and a longer wildcard over a shorter one.
    func handler(for identifier: TaskIdentifier) -> PermittedHandler? {
        scheduler.permits.owner(of: identifier).flatMap { handlers[$0.manifest.bundle] }
    }

    /// The handler of a request's bundle; `nil` if its manifest does not permit the request any more.
    func handler(for request: TaskRequest) -> PermittedHandler? {
        declaration(for: request) == nil ? nil : handlers[request.bundle]
    }

    /// The declaration that permits an identifier; `nil` if there is none.
    func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
        scheduler.permits.owner(of: identifier)?.declaration
    }

    /// The declaration in the manifest of the request's bundle that permits the request; `nil` if there is
    /// none.
    func declaration(for request: TaskRequest) -> TaskDeclaration? {
        scheduler.permits.declaration(for: request.identifier, of: request.bundle)
    }

    /// The limits for launches of a request: those in the manifest or, if no manifest permits the request any
    /// more, the defaults for its kind.
    func limits(of request: TaskRequest) -> LaunchLimits {
        declaration(for: request)?.limits ?? .standard(for: request.kind)
    }

    func notPermitted(_ identifier: TaskIdentifier) -> SubmissionError {
        // The host can't know which identifiers a broken manifest would permit. It quotes the error of a
        // single broken file, and only names several.
        let errors = registered.problems.filter { $0.severity == .error }
        let broken = Set(errors.map(\.file)).sorted()
        var finding = "no manifest in \(surroundings.manifestsDirectory) permits it"
        if broken.count == 1, let error = errors.first {
            let place = ([error.file] + [error.line].compactMap { $0.map(String.init) }).joined(
                separator: ":")
            finding += "; a file with an error may be the cause: \(place): \(error.finding)"
        } else if !broken.isEmpty {
            let more = broken.count > 2 ? " and \(broken.count - 2) more" : ""
            finding += "; these files have errors: \(broken.prefix(2).joined(separator: ", "))\(more)"
        }
        return SubmissionError(
            code: .notPermitted, subject: "\(identifier)", finding: finding,
            remedy: broken.isEmpty
                ? "Check its spelling (bgtask plugins lists the permitted ones), or add it to a manifest"
                : "Check its spelling, and the errors: bgtask plugins lists both")
    }

    func unknownBundle(_ bundle: BundleIdentifier) -> SubmissionError {
        SubmissionError(
            code: .notFound, subject: "\(bundle)", finding: "no installed manifest has this bundle",
            remedy: "See 'bgtask settings' for the bundles that are known")
    }

    // MARK: Copies of libraries

    /// Removes the copies of libraries that no manifest names and no launch uses.
    ///
    /// While the store records the start of a launch, it is not known which copies the launch uses. Then the
    /// copies are removed later: when a launch ends or the manifests change.
    mutating func removeUnusedCopies() {
        guard requests.starting.isEmpty else { return }
        var inUse = handlers.libraryCopies
        for launch in launches.all { inUse.formUnion(launch.libraryCopies) }
        emit(.work(.removeCopies(keeping: inUse)))
    }

    /// Removes unused copies after a launch, if the launch used a copy that no manifest names any more.
    mutating func removeCopies(after launch: OpenLaunch) {
        if !launch.libraryCopies.isSubset(of: handlers.libraryCopies) { removeUnusedCopies() }
    }

    // MARK: Apps

    /// Submits a request for each app that is new, or whose library changed since the app was last launched
    /// for an installation.
    ///
    /// The request is stored before the hash of the library. If the host crashes in between, it launches the
    /// app twice; otherwise, it might never launch it.
    mutating func launchInstalledApps() {
        guard phase == .serving else { return }
        for handler in registered.handlers {
            let bundle = handler.manifest.bundle
            guard let identifier = handler.manifest.appLaunch, let hash = handler.libraryHash,
                launchedApps[bundle] != hash
            else { continue }
            // Set now, so that a second call of this function before the store's answer submits no second
            // request.
            launchedApps[bundle] = hash
            submit(
                TaskSubmission(identifier: identifier, origin: .installation),
                for: .installation(bundle, libraryHash: hash))
        }
        for bundle in launchedApps.keys.sorted() where app(of: bundle) == nil {
            // If the app is installed again, it is launched again.
            launchedApps[bundle] = nil
            store(
                .remember(.launchedApp(bundle, libraryHash: nil)), .fact("that the app of \(bundle) is gone"))
        }
    }

    func app(of bundle: BundleIdentifier) -> PermittedHandler? {
        handlers[bundle].flatMap { $0.manifest.appLaunch == nil ? nil : $0 }
    }
}

extension ManifestProblem {
    var logLevel: LogLine.Level { severity == .error ? .error : .warning }
}

extension RegistrySnapshot {
    /// The snapshot with this device's place in the jitter of each schedule.
    ///
    /// A replay has the places of the recorded device already, and keeps them.
    func placed(onDevice device: UInt64) -> RegistrySnapshot {
        var copy = self
        for handler in copy.handlers.indices {
            for task in copy.handlers[handler].manifest.tasks.indices {
                let declaration = copy.handlers[handler].manifest.tasks[task]
                guard let jitter = declaration.schedule?.jitter, jitter.offset == nil else { continue }
                copy.handlers[handler].manifest.tasks[task].schedule?.jitter?.offset =
                    jitter.offset(ofDevice: device, task: declaration.pattern.base)
            }
        }
        return copy
    }
}
