import HandlerRegistry
import Scheduling
import TaskModel

/// What may run: manifests and plugins, as they come and go.
extension HostCore {
    /// Puts a snapshot into force.
    mutating func take(_ snapshot: RegistrySnapshot) {
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
        feed(.handlersChanged(snapshot.handlers.map(\.manifest)))
        emit(.work(.removeApps(keeping: installedBundles)))
        // The scheduler admits the launches of apps, so it has to know their manifests.
        drainEvents()
        launchInstalledApps()
        // A manifest may be back whose library is gone, and say only now that a client must run them.
        cancelWithoutClient()
    }

    var installedBundles: Set<BundleIdentifier> { Set(registered.handlers.map(\.manifest.bundle)) }

    // MARK: Looking up

    /// The handler that permits an identifier; an exact permission wins over a wildcard, a longer one over a
    /// shorter.
    func handler(for identifier: TaskIdentifier) -> PermittedHandler? {
        scheduler.permits.owner(of: identifier).flatMap { handlers[$0.manifest.bundle] }
    }

    /// The handler of a stored request: its bundle's, if that still permits it.
    func handler(for request: TaskRequest) -> PermittedHandler? {
        declaration(for: request) == nil ? nil : handlers[request.bundle]
    }

    /// The declaration that an identifier falls under.
    func declaration(for identifier: TaskIdentifier) -> TaskDeclaration? {
        scheduler.permits.owner(of: identifier)?.declaration
    }

    /// The declaration that a stored request falls under in its bundle's manifest.
    func declaration(for request: TaskRequest) -> TaskDeclaration? {
        scheduler.permits.declaration(for: request.identifier, of: request.bundle)
    }

    /// The limits that a request's launches get: its manifest's, or its kind's where no manifest has it any
    /// more.
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

    /// Removes the copies that no manifest names and no launch uses.
    ///
    /// While a launch is being recorded it is not known yet what it uses: its end, or the next change, does
    /// it then.
    mutating func removeUnusedCopies() {
        guard requests.starting.isEmpty else { return }
        var inUse = handlers.libraryCopies
        for launch in launches.all { inUse.formUnion(launch.libraryCopies) }
        emit(.work(.removeCopies(keeping: inUse)))
    }

    /// The same after a launch, where it used one that no manifest names any more.
    mutating func removeCopies(after launch: OpenLaunch) {
        if !launch.libraryCopies.isSubset(of: handlers.libraryCopies) { removeUnusedCopies() }
    }

    // MARK: Apps

    /// Asks for a launch of every app that is new, or has another library than when it was last launched for
    /// that.
    ///
    /// The request is stored before the hash: a host that dies in between launches it twice, not never.
    mutating func launchInstalledApps() {
        guard phase == .serving else { return }
        for handler in registered.handlers {
            let bundle = handler.manifest.bundle
            guard let identifier = handler.manifest.appLaunch, let hash = handler.libraryHash,
                launchedApps[bundle] != hash
            else { continue }
            // At once, so that a second look while the store writes makes no request.
            launchedApps[bundle] = hash
            submit(
                TaskSubmission(identifier: identifier, origin: .installation),
                for: .installation(bundle, libraryHash: hash))
        }
        for bundle in launchedApps.keys.sorted() where app(of: bundle) == nil {
            // What is installed again is launched again.
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
