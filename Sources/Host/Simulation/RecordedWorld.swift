import HandlerRegistry
import HostCore
import HostSettings
public import Recording
public import Scheduling
public import TaskModel

/// The world of a log, to try other rules in: events from outside are kept, and decisions are made again.
///
/// Events from outside are conditions, uses of apps, submissions of clients, file changes, sleep and the
/// clocks. The rules then decide again about launches, and so about submissions of handlers, further attempts
/// and scheduled requests.
public struct RecordedWorld: Sendable {
    /// The rules that differ from the recorded ones.
    public struct Changes: Sendable {
        /// The scheduler's settings; `nil` keeps the recorded ones.
        public var settings: SchedulerSettings?
        /// The manifests; `nil` keeps the recorded ones.
        public var manifests: [Manifest]?

        /// Creates a value without changes.
        public init() {}
    }

    private let segments: [RecordedSegment]

    /// Creates the world of a log; the oldest segment must come first.
    public init(_ segments: [RecordedSegment]) { self.segments = segments.filter { !$0.entries.isEmpty } }

    /// Runs a virtual host in this world.
    ///
    /// - Parameters:
    ///   - changes: The rules to try.
    ///   - detail: How closely waits are examined.
    ///   - findDate: Finds dates of calendar schedules that the log does not contain.
    /// - Returns: The launches and waits of the run; `nil` if the log has no events.
    public func run(
        _ changes: Changes = Changes(), detail: Tally.Detail = .waits,
        findDate: @escaping VirtualHost.DateFinder = { _, _, _ in nil }
    ) -> Tally? {
        guard let first = segments.first?.entries.first else { return nil }
        let dates = RecordedDates(segments)
        var host = VirtualHost(at: first.at, model: RecordedLaunches(segments), detail: detail) {
            dates.find($0, $1, $2) ?? findDate($0, $1, $2)
        }
        var newest = first.at
        for (index, segment) in segments.enumerated() {
            if let start = segment.entries.first, index == 0 || !segment.header.isContinued {
                if index > 0 { host.die(at: start.at) }
                // CLOCK_BOOTTIME begins at zero at each boot. So if it is less than at the end of the segment
                // before, the machine was booted in between.
                let isBooted = start.at.boot < newest.boot
                begin(&host, with: segment, changes, isBooted: isBooted, isFirst: index == 0)
            }
            play(segment, into: &host, changes, isFirst: index == 0)
            newest = segment.entries.last?.at ?? newest
        }
        return host.tally
    }

    /// Starts a host with the facts that a segment contains before its event `started`.
    private func begin(
        _ host: inout VirtualHost, with segment: RecordedSegment, _ changes: Changes, isBooted: Bool,
        isFirst: Bool
    ) {
        var world = VirtualBeginning()
        world.isBooted = isBooted
        var foreground: [BundleIdentifier] = []
        for event in segment.entries.prefix(while: { $0.event != .started }).compactMap(\.event) {
            switch event {
            case .settingsChanged(let settings): world.settings = settings
            case .handlersChanged(let manifests): world.manifests = manifests
            case .conditionsChanged(let conditions): world.conditions = conditions
            case .localTimeChanged(let offset): world.localTimeOffset = offset
            case .localTimeChanges(let changes): world.localTimeChanges = changes
            case .pauseChanged(let pause): world.hostPause = pause
            case .foregroundChanged(let bundle, true): foreground.append(bundle)
            // Only the first host starts with recorded requests; after a restart, the virtual host's own
            // store counts.
            case .bundleRestored(let bundle, let state) where isFirst: world.bundleStates[bundle] = state
            case .submitted(let request) where isFirst: world.pending.append(request)
            case .lastLaunched(let identifier, let time) where isFirst: world.lastLaunches[identifier] = time
            default: break
            }
        }
        world.settings = changes.settings ?? world.settings
        world.manifests = changes.manifests ?? world.manifests
        // A host triggers these schedules when it starts and finds that the machine was booted.
        if !segment.startTriggers.isDisjoint(with: world.manifests.identifiers { $0.onBoot }) {
            world.isBooted = true
        }
        host.begin(world)
        for bundle in foreground { host.add(.call(.change(bundle, .foreground(true))), at: host.now.boot) }
    }

    /// Replays the events after the start of a segment.
    private func play(
        _ segment: RecordedSegment, into host: inout VirtualHost, _ changes: Changes, isFirst: Bool
    ) {
        var story = Story(segment, repeats: segment.header.isContinued && !isFirst)
        guard let start = segment.entries.firstIndex(where: { $0.event == .started }) else { return }
        for entry in segment.entries[..<start] { story.note(entry) }
        for (index, entry) in segment.entries.enumerated().dropFirst(start + 1) {
            story.note(entry)
            // Until this line, the virtual clocks run by themselves; then they jump to the recorded time.
            host.add(.clocks(entry.at), at: entry.at.boot)
            for occurrence in story.occurrences(of: entry, at: index, changes) {
                host.add(occurrence, at: entry.at.boot)
            }
            host.run(until: entry.at.boot)
        }
    }
}

extension RecordedSegment {
    /// The moment of the event `started`; all other events of that moment are consequences of the start.
    fileprivate var start: Moment? { entries.first { $0.event == .started }?.at }

    /// The schedules that were triggered when the host started.
    fileprivate var startTriggers: Set<TaskIdentifier> {
        let start = start
        return Set(
            entries.compactMap { entry in
                if case .scheduleTriggered(let identifier) = entry.event, entry.at == start {
                    identifier
                } else {
                    nil
                }
            })
    }
}

extension [Manifest] {
    /// The identifiers with a schedule that meets a condition.
    fileprivate func identifiers(where pleases: (Schedule) -> Bool) -> [TaskIdentifier] {
        flatMap(\.tasks).filter { $0.schedule.map(pleases) ?? false }.map(\.pattern.base)
    }
}

/// Finds the events of a segment that came from outside, line by line.
private struct Story {
    private let segment: RecordedSegment
    private let start: Moment?
    /// Whether the segment begins with a recap, which the virtual host does not need.
    private let repeats: Bool
    /// The recorded manifests, whose schedules name the watched files.
    private var manifests: [Manifest] = []
    private var identifiers: [RequestID: TaskIdentifier] = [:]
    private var launched: [LaunchID: TaskIdentifier] = [:]

    init(_ segment: RecordedSegment, repeats: Bool) {
        self.segment = segment
        self.repeats = repeats
        start = segment.start
    }

    /// Stores the parts of a line that later lines refer to.
    mutating func note(_ entry: RecordedEntry) {
        switch entry.event {
        case .handlersChanged(let manifests): self.manifests = manifests
        case .submitted(let request): identifiers[request.id] = request.identifier
        case .launchStarted(let id, let request): launched[id] = identifiers[request]
        default: break
        }
    }

    /// The occurrences that a line stands for; empty for consequences of the host's decisions.
    func occurrences(
        of entry: RecordedEntry, at index: Int, _ changes: RecordedWorld.Changes
    ) -> [Occurrence] {
        switch entry.occurrence {
        case .willSleep:
            guard let woken = segment.entries[index...].firstIndex(where: { $0.occurrence == .hasWoken })
            else { return [] }
            // The machine was still awake at the line before it woke up.
            return [
                .sleep(
                    until: segment.entries[woken].at.boot, notBefore: segment.entries[woken - 1].at.boot)
            ]
        case .hasWoken: return []
        case .event where repeats && entry.at == start: return []
        case .event(let event): return occurrences(of: event, entry.at, changes)
        }
    }

    private func occurrences(
        of event: SchedulerEvent, _ now: Moment, _ changes: RecordedWorld.Changes
    ) -> [Occurrence] {
        switch event {
        case .settingsChanged(let settings):
            changes.settings == nil ? [.input(.settings(.virtual(settings)))] : []
        case .handlersChanged(let manifests):
            changes.manifests == nil ? [.input(.registered(.virtual(manifests)))] : []
        case .conditionsChanged(let conditions): [.input(.conditions(conditions))]
        case .localTimeChanged(let offset): [.localTime(offset: offset)]
        case .localTimeChanges(let changes): [.input(.localTimeChanges(changes))]
        case .used(let bundle): [.call(.change(bundle, .used))]
        case .dismissed(let bundle): [.call(.change(bundle, .dismissed))]
        case .foregroundChanged(let bundle, let isForeground):
            [.call(.change(bundle, .foreground(isForeground)))]
        case .refreshSwitched(let bundle, let permission): [.call(.change(bundle, .refresh(permission)))]
        case .budgetChanged(let bundle, let launches, let cpu, let burst):
            [.call(.change(bundle, .budget(launches: launches, cpu: cpu, burst: burst)))]
        case .bundlePaused(let bundle, let pause):
            [
                .call(
                    .change(
                        bundle,
                        pause.map {
                            $0.letsEnd == true ? .drained(until: $0.until) : .paused(until: $0.until)
                        } ?? .resumed))
            ]
        // A virtual host has no libraries, so a new library can't end its pause because of crashes. This call
        // ends the pause instead. It also ends a pause by a user, but the two seldom coincide.
        case .crashPauseEnded(let bundle): [.call(.change(bundle, .resumed))]
        case .pauseChanged(let pause):
            [
                .call(
                    .pause(
                        pause.map { $0.letsEnd == true ? .drained(until: $0.until) : .until($0.until) }
                            ?? .ended))
            ]
        case .scheduleTriggered(let identifier): fileChange(that: identifier, now)
        case .submitted(let request):
            request.submission.origin == .client || request.submission.origin == .simulated
                ? [.call(.submit(request.submission, from: nil))] : []
        case .withdrawn(let id): identifiers[id].map { [.withdraw($0)] } ?? []
        case .simulate(let id): identifiers[id].map { [.simulate($0)] } ?? []
        // Sleeps have their own entries, and conditions say what is under pressure.
        case .preparingForSleep, .pressureBegan: []
        // The virtual host makes its own outlook from the conditions.
        case .outlookChanged: []
        // A user asked for these. What policies stop, the virtual host stops by itself.
        case .expireRequested(let id, let reason): launched[id].map { [.stop($0, reason)] } ?? []
        case .answered(let id, false): launched[id].map { [.stop($0, .cancelledByUser)] } ?? []
        case .shutdown: [.input(.stop)]
        case .started, .lastLaunched, .bundleRestored, .scheduleNotStored, .scheduleDated, .launchStarted,
            .launchNotStarted, .launchReady, .progressed, .launchActive, .cpuMeasured, .answered,
            .tracingChanged, .launchExpiring, .launchEnded, .timePassed:
            []
        }
    }

    /// The file change that triggered a schedule; empty if the start of the host triggered it.
    ///
    /// A file change triggers all schedules that watch the file, each with its own line. Only the line of the
    /// first schedule counts.
    private func fileChange(that identifier: TaskIdentifier, _ now: Moment) -> [Occurrence] {
        let schedules = manifests.flatMap(\.tasks).filter { $0.schedule?.onFileChange != nil }
        guard now != start || segment.header.isContinued,
            let path = schedules.first(where: { $0.pattern.base == identifier })?.schedule?.onFileChange,
            schedules.first(where: { $0.schedule?.onFileChange == path })?.pattern.base == identifier
        else { return [] }
        return [.input(.filesChanged([path]))]
    }
}

/// The dates in a log, so that a replay does not depend on this machine's time zones.
private struct RecordedDates: Sendable {
    private struct Question: Hashable {
        var expression: String
        var zone: String?
        var after: WallTime
    }

    private var answers: [Question: WallTime] = [:]

    init(_ segments: [RecordedSegment]) {
        var timings: [TaskIdentifier: (String, String?)] = [:]
        for entry in segments.lazy.flatMap(\.entries) {
            switch entry.event {
            case .handlersChanged(let manifests):
                for task in manifests.lazy.flatMap(\.tasks) {
                    if case .calendar(let expression, let zone) = task.schedule?.timing {
                        timings[task.pattern.base] = (expression, zone)
                    }
                }
            case .scheduleDated(let identifier, let after, let next):
                if let (expression, zone) = timings[identifier], let next {
                    answers[Question(expression: expression, zone: zone, after: after)] = next
                }
            default: break
            }
        }
    }

    /// The recorded date for the same expression, zone and time; `nil` if there is none.
    func find(_ expression: String, _ zone: String?, _ after: WallTime) -> WallTime? {
        answers[Question(expression: expression, zone: zone, after: after)]
    }
}
