import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Recording
@testable import Scheduling
@testable import Simulation

/// Days of a virtual host that are recorded in the format of a real host, then replayed.
@Suite struct ReplayTests {
    private static let fleet: Fleet = {
        var fleet = Fleet(kinds: [.laptop], manifests: (try? SampleManifests.make()) ?? [], seed: 7)
        fleet.days = 4
        return fleet
    }()

    private static let dates: VirtualHost.DateFinder = { _, _, after in
        // The next 02:00 UTC; the samples have no other expression.
        let day = Int64(86_400)
        let seconds = Int64(after.sinceEpoch.inSeconds)
        let today = seconds / day * day + 7200
        return WallTime(sinceEpoch: .seconds(today > seconds ? today : today + day))
    }

    /// The history of a device, as a log of one segment.
    private static func recording(_ fleet: Fleet = fleet) -> (segment: RecordedSegment, tally: Tally) {
        var entries: [RecordedEntry] = []
        let tally = fleet.run(device: 0, detail: .waits, findDate: dates) { entries.append($0) }
        return (RecordedSegment(path: "memory", entries: entries), tally)
    }

    private static func times(_ tally: Tally) -> [String] {
        tally.launches.map { "\($0.start.milliseconds) \($0.identifier) \($0.attempt) \($0.outcome as Any)" }
    }

    @Test func `a recorded history replays to the same launches, waits and alarms`() throws {
        let (segment, tally) = Self.recording()
        #expect(tally.launches.count > 100)
        // The entries pass through the format of the file.
        let lines = try segment.entries.map { try JSONEncoder().encode($0) }
        let entries = try lines.map { try JSONDecoder().decode(RecordedEntry.self, from: $0) }
        let replay = ExactReplay([RecordedSegment(path: "memory", entries: entries)])
        #expect(replay.differences.isEmpty, "\(replay.differences.prefix(3))")
        #expect(Self.times(replay.tally) == Self.times(tally))
        // The replay ends with the last event, and the recorded run with its last day. So the wait of a
        // request that still waits then is longer in the run.
        let end = Fleet.start + .seconds(86_400) * Self.fleet.days
        let tail = try #require(segment.entries.last.map { end - $0.at.wall })
        #expect(Set(replay.tally.waits.keys) == Set(tally.waits.keys))
        for (identifier, waits) in tally.waits {
            for (factor, wait) in waits {
                let difference = wait - (replay.tally.waits[identifier]?[factor] ?? .zero)
                #expect([.zero, tail].contains(difference), "\(identifier), \(factor)")
            }
        }
        #expect(replay.tally.alarms == tally.alarms)
    }

    @Test func `28 days of a laptop fit into the recording many times`() async throws {
        var fleet = Self.fleet
        fleet.days = 28
        let entries = Self.recording(fleet).segment.entries
        let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorder = try EventRecorder(
            directory: folder.path, limit: .mebibytes(64), onProblem: { Issue.record("\($0)") })
        let first = try #require(entries.first)
        recorder.begin(at: first.at, isContinued: false)
        for entry in entries { recorder.record(entry) }
        recorder.finish()
        await recorder.run()
        let segments = try RecordedLog.read(folder.path)
        #expect(segments.map(\.entries.count) == [entries.count] && segments.allSatisfy(\.problems.isEmpty))
        let size = try RecordedLog.files(in: folder.path)
            .map { try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0 }.reduce(0, +)
        #expect(size < 8 << 20, "\(entries.count) events, \(size) bytes")
        // The bytes of a day in which two tasks report progress for eight hours, one line in ten seconds
        // each.
        let progress = RecordedEntry(
            at: first.at,
            .event(
                .progressed(
                    LaunchID(rawValue: 123_456), TaskProgress(completed: 123_456, total: 1_000_000),
                    changedAt: .nanoseconds(35_946_680_551_848))))
        let line = LineSeal.close([UInt8](try JSONEncoder().encode(progress)), number: 1_234_567)
        let busy = 2 * 8 * 360 * line.count
        #expect(28 * busy + size < 64 << 20, "\(line.count) bytes a line, \(busy) a day")
    }

    @Test func `a host that did something else is found out`() throws {
        var (segment, _) = Self.recording()
        let first = segment.entries.firstIndex(where: \.isLaunch)
        let index = try #require(first)
        guard case .launchStarted(let launch, _) = segment.entries[index].event else { return }
        var entries = segment.entries
        entries[index] = RecordedEntry(
            at: entries[index].at, .event(.launchStarted(launch, RequestID(rawValue: 4711))))
        segment = RecordedSegment(path: "memory", entries: entries)
        let replay = ExactReplay([segment])
        #expect(replay.differences.contains { $0.finding.contains("launched R4711") })
        #expect(replay.differences.contains { $0.finding.contains("and the host did not") })
    }

    @Test func `a pause of the host that was in force at the beginning also holds in the recorded world`()
        throws
    {
        let (segment, _) = Self.recording()
        let start = try #require(segment.entries.firstIndex { $0.event == .started })
        let moment = segment.entries[start].at
        let pause = Pause(since: moment.wall, until: moment.wall + .seconds(2 * 86_400))
        var entries = segment.entries
        entries.insert(RecordedEntry(at: moment, .event(.pauseChanged(pause))), at: start)
        let result = RecordedWorld([RecordedSegment(path: "memory", entries: entries)]).run()
        let launches = try #require(result).launches
        #expect(!launches.isEmpty)
        #expect(launches.allSatisfy { $0.start >= moment.wall + .seconds(2 * 86_400) })
    }

    @Test(arguments: [Reason.cancelledByUser, .systemSleep])
    func `a launch that a user stops, stops in the recorded world`(reason: Reason) throws {
        let (segment, _) = Self.recording()
        let ready = try #require(
            segment.entries.firstIndex { if case .launchReady = $0.event { true } else { false } })
        guard case .launchReady(let launch) = segment.entries[ready].event else { return }
        var entries = segment.entries
        entries.insert(
            RecordedEntry(at: entries[ready].at, .event(.expireRequested(launch, reason))), at: ready + 1)
        let result = RecordedWorld([RecordedSegment(path: "memory", entries: entries)]).run()
        let launches = try #require(result).launches
        #expect(launches.contains { $0.id == launch && $0.outcome != .succeeded })
    }

    @Test func `the same rules in the recorded world launch what was launched`() throws {
        let (segment, tally) = Self.recording()
        let result = RecordedWorld([segment]).run()
        let again = try #require(result)
        #expect(Self.times(again) == Self.times(tally))
    }

    @Test func `other rules in the recorded world show their difference`() throws {
        let (segment, tally) = Self.recording()
        var changes = RecordedWorld.Changes()
        changes.settings = SchedulerSettings()
        changes.settings?.refreshSpacing = .seconds(7200)
        let slower = try #require(RecordedWorld([segment]).run(changes, findDate: Self.dates))
        func refreshes(_ tally: Tally) -> Int {
            tally.launches.count { $0.identifier.rawValue.hasSuffix("refresh") }
        }
        #expect(refreshes(slower) > 5)
        #expect(refreshes(slower) < refreshes(tally) / 2)
        #expect(slower.waits.values.contains { $0["RateLimit"] ?? .zero > .seconds(3600) })
        changes = RecordedWorld.Changes()
        changes.manifests = Self.fleet.manifests.filter { $0.bundle.rawValue != "com.example.news" }
        let fewer = try #require(RecordedWorld([segment]).run(changes, findDate: Self.dates))
        #expect(refreshes(fewer) == 0)
        #expect(fewer.launches.contains { $0.identifier.rawValue.hasSuffix("cleanup") })
    }

    @Test func `a host that is started anew goes on with its schedules, and with its own back-offs`() throws {
        // Without the two tasks that would also be launched at once.
        let manifests = try SampleManifests.make().map { manifest in
            var copy = manifest
            copy.tasks.removeAll {
                ["prefetch", "upload"].contains($0.pattern.base.rawValue.split(separator: ".").last)
            }
            return copy
        }
        let cleanup = try TaskIdentifier("com.example.photos.cleanup")
        let start = Moment(boot: .zero, monotonic: .zero, wall: Fleet.start)
        var settings = SchedulerSettings()
        settings.backOffBase = .seconds(400)
        var host = VirtualHost(at: start, model: TypicalLaunches(seed: 1), findDate: Self.dates)
        var world = VirtualBeginning(settings: settings, manifests: manifests)
        // An earlier run of the host launched this task an hour ago. The other task's first launch is lost
        // with the host.
        world.lastLaunches = [cleanup: start.wall + (.zero - .seconds(3600))]
        host.begin(world)
        host.run(until: .seconds(1))
        #expect(
            host.launcher.running.values.map(\.order.record.identifier.rawValue) == [
                "com.example.news.refresh"
            ])
        host.die(at: start.advanced(by: .seconds(60)))
        host.begin(VirtualBeginning(settings: settings, manifests: manifests))
        let dates = host.store.pendingRequests.reduce(into: [:]) {
            $0[$1.identifier.rawValue] = [$1.effectiveBeginDate, $1.notBefore].compactMap(\.self).max()
        }
        #expect(dates[cleanup.rawValue] == start.wall + .seconds(86_400 - 3600))
        let lost = try #require(host.tally.launches.first?.request)
        let backOff = settings.backOff(afterLosses: 1, of: lost)
        #expect(dates["com.example.news.refresh"] == (start.wall + .seconds(60) + backOff).rounded)
        #expect(host.tally.launches.map(\.outcome) == [.lost])
    }

    @Test func `the same seed gives the same days, another one others`() {
        let (one, two) = (Self.recording(), Self.recording())
        #expect(one.segment.entries == two.segment.entries)
        #expect(one.tally == two.tally)
        var other = Self.fleet
        other.seed = 8
        #expect(Self.recording(other).tally != one.tally)
    }

    @Test(arguments: DeviceKind.allCases)
    func `every device lives a week without a rule being broken`(kind: DeviceKind) throws {
        var fleet = Fleet(kinds: [kind], manifests: try SampleManifests.make(), seed: 3)
        fleet.days = 7
        let (segment, tally) = Self.recording(fleet)
        #expect(ExactReplay([segment], detail: .launches).differences.isEmpty)
        #expect(tally.launches.count > 50, "\(kind)")
        let cleanups = tally.launches.filter { $0.identifier.rawValue.hasSuffix("cleanup") }
        #expect(cleanups.contains { $0.outcome == .succeeded }, "\(kind)")
        var conditions: Conditions?
        var kinds: [RequestID: TaskRequest] = [:]
        for entry in segment.entries {
            if case .conditionsChanged(let new) = entry.event { conditions = new }
            if case .submitted(let request) = entry.event { kinds[request.id] = request }
            if case .launchStarted(_, let id) = entry.event, let name = kinds[id]?.identifier.rawValue,
                name.hasSuffix("cleanup")
            {
                #expect(conditions?.power.value?.externalPower == true, "\(kind)")
                #expect(conditions?.user == .known(.idle), "\(kind)")
            }
        }
    }

    @Test func `a laptop that sleeps hears of nothing until it wakes`() {
        let (segment, _) = Self.recording()
        let naps = segment.entries.count { $0.occurrence == .hasWoken }
        #expect(naps >= 2)
        let gaps = zip(segment.entries, segment.entries.dropFirst()).filter {
            ($1.at.boot - $0.at.boot) - ($1.at.monotonic - $0.at.monotonic) > .seconds(1)
        }
        #expect(gaps.count == naps)
        #expect(gaps.allSatisfy { $1.at.boot - $0.at.boot > .seconds(60) })
    }

    @Test func `a damaged line costs a replay at most the launch that it names`() throws {
        let (segment, tally) = Self.recording()
        let started = try #require(segment.entries.firstIndex { $0.event == .started })
        var numbers = SeededNumbers(seed: 3, part: 1)
        let whole = ExactReplay([segment]).tally
        #expect(whole.launches.count == tally.launches.count)
        for _ in 0..<24 {
            let index = Int.random(in: (started + 1)..<segment.entries.count, using: &numbers)
            var entries = segment.entries
            let lost = entries.remove(at: index)
            let replay = ExactReplay([RecordedSegment(path: "memory", entries: entries, firstGap: index)])
            #expect(replay.differences.isEmpty, "\(lost): \(replay.differences.prefix(2))")
            let count = replay.tally.launches.count
            #expect((whole.launches.count - 1...whole.launches.count).contains(count), "\(lost)")
        }
    }
}
