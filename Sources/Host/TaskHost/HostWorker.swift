import Calendars
import Dispatch
import HandlerRegistry
import HostCore
import LinuxSystem
import Recording
import Scheduling
import Synchronization
import SystemConditions
import TaskModel

/// Performs work that may block, away from the host's thread: it reads directories, libraries, time zones and
/// `/proc`.
///
/// It has four serial queues: one for work that launches wait for, one for the registry, which takes long to
/// hash libraries, one for removing the temporary directories of launches, and one for those that an earlier
/// host left. All functions can be called from any thread.
final class HostWorker: Sendable {
    private let inbox: Inbox
    private let configuration: HostConfiguration
    private let directories: StateDirectories
    private let registry: HandlerRegistry
    private let sensors: ConditionSensors
    /// The watch of files; `nil` until a schedule names a file.
    private let fileWatch = Mutex<PathWatch?>(nil)
    /// The alarm that wakes the machine; `nil` until a schedule has `wake: true`.
    private let machineAlarm = Mutex<MachineAlarm?>(nil)
    /// The app directories that this host wrote, as they were last written.
    private let appDirectories = Mutex<[BundleIdentifier: AppDirectory]>([:])
    /// The temporary directories of launches, until they are removed.
    private let temporaries = Mutex<[LaunchID: String]>([:])
    /// The users of bundles; `nil` if their tasks run as the host's user.
    private let users = Mutex<BundleUsers?>(nil)
    /// The bundles whose last launch could not be prepared, with the reasons.
    private let unprepared = Mutex<[BundleIdentifier: String]>([:])
    /// The tickets of the requested scans of the registry's directories (manifests, plugins and conditions)
    /// that have not begun.
    private let scanTickets = Mutex<[WorkTicket]>([])
    private let launching = DispatchQueue(label: "bgtask.host.launching", qos: .userInitiated)
    private let reading = DispatchQueue(label: "bgtask.host.registry")
    private let removing = DispatchQueue(label: "bgtask.host.removing", qos: .utility)
    private let sweeping = DispatchQueue(label: "bgtask.host.sweeping", qos: .background)

    /// Creates a worker that puts its results into an inbox.
    init(
        configuration: HostConfiguration, directories: StateDirectories, registry: HandlerRegistry,
        sensors: ConditionSensors, inbox: Inbox
    ) {
        self.inbox = inbox
        self.configuration = configuration
        self.directories = directories
        self.registry = registry
        self.sensors = sensors
    }

    /// Gives each bundle a user of its own from now on; called before the first launch.
    ///
    /// - Parameter range: The numbers of the users.
    /// - Throws: The system call that failed.
    func giveUsers(from range: ClosedRange<UInt32>) throws(SystemCallError) {
        var owners = try directories.dataOwners()
        owners[Self.transfersName] = DirectoryTree.owner(of: directories.transfers)
        let known = BundleUsers(range: range, owners: owners)
        users.withLock { $0 = known }
    }

    /// Removes directories, one after the other, while the host runs.
    func removeInBackground(_ paths: [String]) {
        for path in paths {
            sweeping.async {
                self.attempt("temporary directories of an earlier host could not be removed") {
                    try DirectoryTree.remove(path)
                }
            }
        }
    }

    /// Starts a piece of work.
    func start(_ work: HostWork) {
        switch work {
        case .scan(let ticket):
            // One scan answers all tickets that wait when it begins.
            let isFirst = scanTickets.withLock { tickets in
                tickets.append(ticket)
                return tickets.count == 1
            }
            if isFirst { reading.async { self.scan() } }
        case .removeCopies, .defineConditions, .watchStorage, .watchHeat:
            reading.async { self.perform(work) }
        case .removeTemporary: removing.async { self.perform(work) }
        case .checkPayload, .prepare, .removeApps, .findDate, .watchFiles, .openMachineAlarm:
            launching.async { self.perform(work) }
        }
    }

    /// Measures the CPU time of a client's process.
    func measure(_ process: Int32, for launch: LaunchID) {
        launching.async {
            self.inbox.put(.measured(launch, ProcessUsage.cpuTime(of: [process])))
        }
    }

    /// Waits up to a second for the end of a client's process, on a separate thread.
    ///
    /// - Parameters:
    ///   - process: The process; `nil` counts as ended.
    ///   - client: The client that left.
    func awaitEnd(of process: ProcessHandle?, of client: ClientID) {
        guard let process else {
            inbox.put(.clientEnded(client, isDead: true))
            return
        }
        BlockingThread.start(named: "bgtask-client") {
            let isDead = process.waitForEnd(timeoutMilliseconds: 1000)
            self.inbox.put(.clientEnded(client, isDead: isDead))
        }
    }

    /// Sets the alarm that wakes the machine, if it was opened for a schedule; `nil` clears it.
    func setMachineAlarm(_ time: WallTime?) { machineAlarm.withLock { $0?.set(time) } }

    /// Stops the watch of files.
    func stopWatching() { fileWatch.withLock { $0?.stop() } }

    /// Runs a function that may block, on the registry's queue.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { answer in
            reading.async { answer.resume(returning: body()) }
        }
    }

    /// Reads the conditions since `start` from the recording of earlier runs, and puts them into the inbox.
    ///
    /// This may take seconds, because a recording may have 64 MiB. Only forecasts need the result, and are
    /// less accurate until it is there.
    func readHistory(in files: [String], since start: WallTime) {
        if files.isEmpty { return }
        DispatchQueue.global(qos: .utility).async { [inbox] in
            inbox.put(.history(ConditionHistory(recordedIn: files, since: start)))
        }
    }

    private func perform(_ work: HostWork) {
        switch work {
        case .checkPayload(let ticket, let handler, let identifier, let payload):
            inbox.put(.payloadChecked(ticket, problem(of: payload, handler, identifier)))
        case .prepare(let id, let handler, let identifier, let payload):
            inbox.put(.prepared(id, place(of: id, handler, identifier, payload)))
        case .removeTemporary(let id):
            attempt("its temporary directory could not be removed before the host's next start", id) {
                guard let path = temporaries.withLock({ $0.removeValue(forKey: id) }) else { return }
                try DirectoryTree.remove(path)
            }
        case .removeCopies(let inUse):
            // A copy that remains only uses space; the next change of a manifest or the next start tries to
            // remove it again.
            attempt("unused copies of libraries could not be removed") {
                _ = try registry.removeUnusedCopies(keeping: inUse)
            }
        case .removeApps(let bundles):
            appDirectories.withLock { $0 = $0.filter { bundles.contains($0.key) } }
            attempt("app directories of bundles that are gone could not be removed") {
                try directories.removeApps(keeping: bundles)
            }
        case .findDate(let identifier, let expression, let timeZone, let after):
            inbox.put(
                .dated(identifier, after: after, Self.date(of: expression, in: timeZone, after: after)))
        case .defineConditions(let definitions):
            sensors.define(definitions)
            inbox.put(.conditions(sensors.snapshot()))
        case .watchStorage(let isNeeded):
            sensors.watchStorage(isNeeded)
        case .watchHeat(let isBusy):
            sensors.watchHeat(isBusy)
            inbox.put(.conditions(sensors.snapshot()))
        case .watchFiles(let paths): watch(paths)
        case .openMachineAlarm: inbox.put(.machineAlarm(openMachineAlarm()))
        case .scan: return
        }
    }

    private func scan() {
        let tickets = scanTickets.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let snapshot = registry.refresh()
        for ticket in tickets { inbox.put(.scanned(ticket, snapshot)) }
    }

    private func attempt(_ sentence: String, _ launch: LaunchID? = nil, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            inbox.put(.workFailed("\(sentence): \(error)", launch))
        }
    }

    // MARK: Launches

    private func problem(
        of payload: String?, _ handler: PermittedHandler, _ identifier: TaskIdentifier
    ) -> SubmissionError? {
        let data = directories.data(of: handler.manifest.bundle)
        do {
            try handler.manifest.checkPayload(
                payload, for: identifier, dataDirectory: DirectoryTree.isDirectory(data) ? data : nil)
            return nil
        } catch {
            return error
        }
    }

    private func place(
        of id: LaunchID, _ handler: PermittedHandler, _ identifier: TaskIdentifier, _ payload: String?
    ) -> Result<LaunchPlace, SubmissionError> {
        let bundle = handler.manifest.bundle
        let data = directories.data(of: bundle)
        do {
            let user = try prepareData(of: bundle)
            var (program, grants) = try handler.manifest.resolve(
                payload: payload, for: identifier, dataDirectory: data)
            if case .command(var start) = program,
                let tool = CommandTool(path: configuration.taskProgramPath)
            {
                tool.offer(to: &start, &grants)
                program = .command(start)
            }
            try registry.hostFiles.check(grants, of: identifier)
            for path in grants.created {
                try makeGranted(path, for: user, identifier)
            }
            let temporary = try directories.makeTemporary(of: id, bundle, for: user)
            temporaries.withLock { $0[id] = temporary }
            var place = LaunchPlace(
                dataDirectory: data, temporaryDirectory: temporary,
                executable: program == nil ? executable(for: handler, user) : nil, program: program)
            place.user = user
            place.temporaryParent = directories.temporaries(of: bundle)
            place.grants = grants.files
            // A path that does not exist yet can't be granted; when it does, the next launch gets it.
            place.grants.read.removeAll(where: DirectoryTree.isMissing)
            place.grants.write.removeAll(where: DirectoryTree.isMissing)
            return .success(place)
        } catch let error as SubmissionError {
            return .failure(error)
        } catch let error as Unprepared {
            return .failure(
                SubmissionError(
                    code: .unprepared, subject: "\(bundle)", finding: error.finding, remedy: error.remedy))
        } catch {
            return .failure(
                SubmissionError(
                    code: .unavailable, subject: "\(id)", finding: "\(error)",
                    remedy:
                        "Make sure that \(configuration.stateDirectory) has free space, and that the host's user can write to it"
                ))
        }
    }

    /// Makes the directory of a `create` grant.
    ///
    /// A task that may write to a directory on the way could have put a link there after the path was
    /// checked.
    ///
    /// - Throws: ``SubmissionError`` with the system call that failed.
    private func makeGranted(
        _ path: String, for user: UInt32?, _ identifier: TaskIdentifier
    ) throws(SubmissionError) {
        do throws(SystemCallError) {
            if let user {
                try DirectoryTree.make(path, owner: user, group: user)
            } else {
                try DirectoryTree.makeWithoutLinks(path)
            }
        } catch {
            throw SubmissionError(
                code: error.isShortage ? .unavailable : .invalidRequest, subject: "\(identifier)",
                finding: "the directory of the write grant '\(path)' can't be made: "
                    + (error.isOfNoDirectory
                        ? "a link or a file is where it or one of its parents was expected" : "\(error)"),
                remedy: error.isShortage
                    ? "Nothing is wrong with the request; the host tries again"
                    : "Make the directory yourself, or grant another one")
        }
    }

    /// Makes the data directory of a bundle, and gives it to the bundle's user.
    ///
    /// - Returns: The user; `nil` if the bundle's tasks run as the host's user.
    /// - Throws: ``Unprepared``, or the system call that failed.
    private func prepareData(of bundle: BundleIdentifier) throws -> UInt32? {
        do {
            let user = try user(of: bundle)
            try makeData(of: bundle, for: user)
            unprepared.withLock { $0[bundle] = nil }
            return user
        } catch let error as Unprepared {
            unprepared.withLock { $0[bundle] = error.finding }
            throw error
        }
    }

    private func makeData(of bundle: BundleIdentifier, for user: UInt32?) throws {
        do {
            try directories.makeData(of: bundle, for: user)
        } catch {
            guard error.isTooDeep else { throw error }
            throw Unprepared.tooDeep(directories.data(of: bundle), user: user ?? 0)
        }
    }

    /// The user of a bundle; `nil` if its tasks run as the host's user.
    private func user(of bundle: BundleIdentifier) throws(Unprepared) -> UInt32? {
        try user(named: StateDirectories.name(of: bundle))
    }

    /// The name of the program that makes transfers, which no bundle's directory has.
    private static let transfersName = "@@transfers"

    /// The user of the program that makes transfers; `nil` if it runs as the host's user.
    func userOfTransfers() -> UInt32? {
        do {
            return try user(named: Self.transfersName)
        } catch {
            inbox.put(
                .workFailed(
                    "the program that makes transfers has no user of its own: \(error.finding)", nil))
            return nil
        }
    }

    private func user(named name: String) throws(Unprepared) -> UInt32? {
        let found: (user: UInt32?, range: ClosedRange<UInt32>)? = users.withLock { users in
            guard let range = users?.range else { return nil }
            let user = users?.user(of: name) {
                PeerCredentials.name(ofUser: $0) != nil
            }
            return (user, range)
        }
        guard let found else { return nil }
        guard let user = found.user else {
            throw .noFreeUser(found.range, data: "\(directories.root)/data")
        }
        return user
    }

    /// Why bundles could not get their users at their last launches, for people; `nil` if all could.
    var userFinding: String? {
        let found = unprepared.withLock { $0 }
        guard let first = found.min(by: { $0.key.rawValue < $1.key.rawValue }) else { return nil }
        let count = found.count == 1 ? "1 bundle" : "\(found.count) bundles"
        return "launches of \(count) fail. \(first.key): \(first.value)"
    }

    /// The path of the runner in the bundle's app directory; writes the directory if it is missing or out of
    /// date.
    ///
    /// - Returns: The path; `nil`, after a line in the log, if the directory can't be written. In that case,
    ///   `Bundle.main` has no identifier.
    private func executable(for handler: PermittedHandler, _ user: UInt32?) -> String? {
        let bundle = handler.manifest.bundle
        do {
            let wanted = try AppDirectory(
                handler.manifest, in: directories.apps(of: bundle), runner: configuration.runnerPath)
            let written = appDirectories.withLock { $0[bundle] }
            if let written, wanted.isSame(as: written) { return wanted.executable }
            try wanted.write(linking: configuration.runnerPath)
            if let user { try directories.openApps(of: bundle, for: user) }
            appDirectories.withLock { $0[bundle] = wanted }
            return wanted.executable
        } catch {
            inbox.put(
                .workFailed(
                    "the tasks of \(bundle) run without an Info.plist, so Bundle.main has no values: \(error)",
                    nil))
            return nil
        }
    }

    // MARK: Schedules

    private func watch(_ paths: Set<String>) {
        fileWatch.withLock { watch in
            if watch == nil && paths.isEmpty { return }
            do {
                let watching = try watch ?? PathWatch { self.report($0) }
                watching.watch(paths)
                watch = watching
            } catch {
                inbox.put(
                    .workFailed("files can't be watched, so no change of a file runs a task: \(error)", nil))
            }
        }
    }

    private func report(_ event: PathWatch.Event) {
        switch event {
        case .changed(let paths): inbox.put(.filesChanged(paths))
        case .unwatchable(let path, let error):
            inbox.put(.unwatchable(path: path, problem: "\(error)"))
        }
    }

    private func openMachineAlarm() -> MachineAlarmState {
        do {
            let alarm = try MachineAlarm()
            machineAlarm.withLock { $0 = alarm }
            return MachineAlarm.isClockThere ? .ready : .noClock
        } catch {
            return .refused("\(error)")
        }
    }

    private static func date(of expression: String, in timeZone: String?, after: WallTime) -> FoundDate {
        do {
            let zone = try ZoneDatabase.machine.zone(named: timeZone)
            guard let next = try CalendarExpression(expression).next(after: after, in: zone) else {
                return .never
            }
            return .next(next, text: zone.text(of: next))
        } catch {
            return .unreadable("\(error)")
        }
    }
}
