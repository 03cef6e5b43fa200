import HostSettings
import HandlerRegistry
import MemoryStore
import Scheduling
import TaskHostTestSupport
import TaskModel
import Testing

@testable import HostCore

/// A core with a store that answers at once, and a transfer program that the test plays.
struct TransferWorld {
    var core = HostCore()
    var store = MemoryStore()
    var now = Moment(
        boot: .seconds(1000), monotonic: .seconds(1000), wall: WallTime(milliseconds: 1_800_000_000_000))
    /// The orders that the core has given and the test has not looked at.
    var orders: [TransferOrder] = []
    /// The bytes that the program was allowed to move after each change.
    var allowed: [Int64?] = []
    /// The transfers that the program was given in reserve.
    var reserved: [TransferID] = []
    var answers: [CallID: HostAnswer] = [:]
    var events: [Transfer] = []
    var alarm = Wake()
    /// The errors that the store answers with, one for each write of an end.
    var failures: [StoreRefusal] = []
    /// The number of writes before each order, so that a test sees which came first.
    private var writes = 0
    private var calls = 0
    /// The number of writes that stored the end of a transfer, or of several.
    private(set) var writesOfEnds = 0
    var isDrained = false

    init() { begin() }

    mutating func begin() {
        var beginning = HostBeginning(
            surroundings: HostSurroundings(
                manifestsDirectory: "/m", stateDirectory: "/s", taskEnvironment: []),
            settings: VirtualManifests.settings[0],
            registered: RegistrySnapshot(handlers: [], problems: []), conditions: .simulatedStart)
        beginning.recovery.facts = store.facts
        core = HostCore()
        orders = []
        reserved = []
        give(.begin(beginning))
    }

    mutating func give(_ input: HostInput) {
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in core.handle(inputs.removeFirst(), at: now) {
                switch effect {
                case .store(let ticket, let write):
                    if write.endsTransfer { writesOfEnds += 1 }
                    if write.endsTransfer, !failures.isEmpty {
                        inputs.append(.stored(ticket, .failure(failures.removeFirst())))
                    } else {
                        inputs.append(.stored(ticket, store.apply(write)))
                    }
                case .answer(let call, let answer): answers[call] = answer
                case .publish(.transferChanged(let transfer)): events.append(transfer)
                case .transfer(.allow(_, let bytes)): allowed.append(bytes)
                case .transfer(.reserve(let transfer, _, _)): reserved.append(transfer.id)
                case .transfer(let order): orders.append(order)
                case .arm(let wake): alarm = wake
                case .drained: isDrained = true
                default: continue
                }
            }
        }
    }

    /// Moves all clocks, and sends the alarm.
    mutating func pass(_ time: Duration) {
        now.boot += time
        now.monotonic += time
        now.wall = now.wall + time
        give(.timePassed(localTimeOffset: .zero))
    }

    @discardableResult
    mutating func submit(
        _ url: String = "http://a/x", bundle: String = "org.example",
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> Transfer {
        var request = TransferRequest(bundle: try BundleIdentifier(bundle), direction: .download, url: url)
        request.file = "/out-\(calls)"
        change(&request)
        return try call(.transfer(request))
    }

    var lastCall: CallID { CallID(rawValue: calls) }

    mutating func ask(_ asked: HostCall) {
        calls += 1
        give(.call(lastCall, asked))
    }

    mutating func call(_ asked: HostCall) throws -> Transfer {
        ask(asked)
        return try #require(answers[lastCall]).value {
            if case .transfer(let found) = $0 { found } else { nil }
        }
    }

    mutating func end(
        _ id: TransferID, _ kind: TransferAttemptEnd.Kind, completed: Int64? = nil,
        retryAfter: Duration? = nil
    ) {
        let end = Self.attemptEnd(kind, completed: completed, retryAfter: retryAfter)
        give(.transfers([.ended(id, end, received: completed ?? 0, sent: 0)]))
    }

    static func attemptEnd(
        _ kind: TransferAttemptEnd.Kind, completed: Int64? = nil, retryAfter: Duration? = nil
    ) -> TransferAttemptEnd {
        let failure =
            kind == .finished ? nil : TransferFailure(domain: .network, code: 7, message: "no route")
        return TransferAttemptEnd(kind, completed: completed, failure: failure, retryAfter: retryAfter)
    }

    /// The transfers that the core has begun since the last call.
    mutating func begun() -> [TransferID] {
        defer { orders = [] }
        return orders.compactMap {
            switch $0 {
            case .begin(let transfer, _): transfer.id
            case .promote(let id): id
            default: nil
            }
        }
    }

    /// The transfers that the core has stopped since the last call.
    mutating func cancelled() -> [TransferID] {
        defer { orders = [] }
        return orders.compactMap { if case .cancel(let id) = $0 { id } else { nil } }
    }

    subscript(id: TransferID) -> Transfer? { core.transfers[id] }
}

extension StoreWrite {
    /// Whether the write stores the end of a transfer.
    fileprivate var endsTransfer: Bool {
        switch self {
        case .saveTransfer(let transfer): transfer.state == .ended
        case .saveTransfers(let transfers): transfers.contains { $0.state == .ended }
        default: false
        }
    }
}

@Suite struct TransferDecisionTests {
    @Test func `a transfer is durable before it is acknowledged, and begins at once`() throws {
        var world = TransferWorld()
        let transfer = try world.submit()
        #expect(world.store.facts.transfers.map(\.id) == [transfer.id])
        #expect(world.begun() == [transfer.id])
        #expect(world[transfer.id]?.state == .running)
    }

    @Test(arguments: [
        "ftp://a/x", "file:///etc/passwd", "a/x", "http://", "http://a/x y", "http://a/\u{1}", "javascript:x",
    ])
    func `an address that is not of http or https is refused`(url: String) throws {
        var world = TransferWorld()
        #expect(throws: SubmissionError.self) { try world.submit(url) }
        #expect(world.store.facts.transfers.isEmpty)
    }

    @Test func `a finished file is put into its place before the transfer ends`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.orders = []
        world.end(id, .finished, completed: 9)
        #expect(world[id]?.state == .finishing)
        guard case .deliver(let delivered, .path("/out-0"))? = world.orders.first else {
            Issue.record("no delivery: \(world.orders)")
            return
        }
        #expect(delivered == id)
        #expect(world.store.facts.transfers[0].state != .ended)
        world.give(.transfers([.delivered(id, nil)]))
        let stored = try #require(world.store.facts.transfers.first)
        #expect(stored.outcome == .succeeded && stored.completed == 9 && stored.total == 9)
        #expect(world.orders.last == .remove(id))
        #expect(world.events.last == stored)
    }

    /// The file would otherwise appear after the answer that the transfer was cancelled or had failed.
    @Test func `a transfer whose file is being put into its place can't be cancelled or fail for its time`()
        throws
    {
        var world = TransferWorld()
        let id = try world.submit { $0.resourceLimit = .seconds(7) }.id
        world.end(id, .finished, completed: 9)
        #expect(world[id]?.state == .finishing)
        #expect(throws: SubmissionError.self) { try world.call(.cancelTransfer(id)) }
        world.pass(.seconds(10))
        #expect(world[id]?.state == .finishing)
        #expect(world.alarm.wall.map { $0 > world.now.wall } ?? true)
        world.give(.transfers([.delivered(id, nil)]))
        #expect(world[id]?.outcome == .succeeded)
    }

    @Test func `six transfers at a time go to one server, and 24 in all`() throws {
        var world = TransferWorld()
        for _ in 0..<10 { try world.submit("http://one/x") }
        #expect(world.begun().count == 6)
        for server in ["two", "three", "four", "five"] {
            for _ in 0..<10 { try world.submit("http://\(server):80/x") }
        }
        #expect(world.core.transfers.running.count == 24)
        world.orders = []
        world.end(TransferID(rawValue: 1), .refused)
        // The oldest that waits is of the first server, which has room again.
        #expect(world.begun() == [TransferID(rawValue: 7)])
    }

    @Test func `a transfer that only waits for the disk gives its place to another one`() throws {
        var world = TransferWorld()
        for _ in 0..<8 { try world.submit("http://one/x") }
        world.orders = []
        let first = TransferID(rawValue: 1)
        let response = TransferResponse(status: 200, url: "http://one/x", headers: [])
        world.give(.transfers([.response(first, response, total: 3, isWhole: true)]))
        #expect(world.begun() == [TransferID(rawValue: 7)])
        #expect(world[first]?.state == .running)
        // Its end frees no second place.
        world.end(first, .finished, completed: 3)
        #expect(world.begun() == [])
        world.end(TransferID(rawValue: 2), .refused)
        #expect(world.begun() == [TransferID(rawValue: 8)])
    }

    @Test func `no more than 64 transfers wait for the disk without a place`() throws {
        var world = TransferWorld()
        for _ in 0..<100 { try world.submit("http://one/x") }
        let response = TransferResponse(status: 200, url: "http://one/x", headers: [])
        for number in 1...70 {
            world.give(
                .transfers([.response(TransferID(rawValue: Int64(number)), response, total: 3, isWhole: true)]
                ))
        }
        #expect(world.core.transfers.running.count == 70)
        world.orders = []
        world.end(TransferID(rawValue: 1), .finished, completed: 3)
        #expect(world.begun() == [])
    }

    @Test func `a file has one open download`() throws {
        var world = TransferWorld()
        let first = try world.submit { $0.file = "/a" }
        let refused = #expect(throws: SubmissionError.self) { try world.submit { $0.file = "/a" } }
        #expect(refused?.finding == "T1 downloads to this file, and has not ended")
        try world.submit { ($0.file, $0.direction) = ("/a", .upload) }
        try world.submit { $0.file = nil }
        try world.submit { $0.file = nil }
        _ = try world.call(.cancelTransfer(first.id))
        try world.submit { $0.file = "/a" }
        var request = first.request
        request.file = "/b"
        world.ask(.transfers([request, request]))
        #expect(throws: SubmissionError.self) {
            try #require(world.answers[world.lastCall]).value {
                if case .transfers(let ids) = $0 { ids } else { nil }
            }
        }
        try world.submit { $0.file = "/b" }
    }

    @Test func `transfers of one call are stored by one write, all or none`() throws {
        var world = TransferWorld()
        var requests = try (0..<3).map {
            var request = TransferRequest(
                bundle: try BundleIdentifier("org.example"), direction: .download, url: "http://a/\($0)")
            request.file = "/out\($0)"
            return request
        }
        world.ask(.transfers(requests))
        let answer = try #require(world.answers[world.lastCall])
        let ids = try answer.value {
            if case .transfers(let ids) = $0 { ids } else { nil }
        }
        #expect(ids == [1, 2, 3].map(TransferID.init(rawValue:)))
        #expect(world.store.facts.transfers.map(\.id) == ids)
        #expect(world.begun() == ids)
        requests[1].url = "ftp://a/1"
        world.ask(.transfers(requests))
        guard case .refused(let refusal)? = world.answers[world.lastCall] else {
            Issue.record("the call was not refused")
            return
        }
        #expect(refusal.subject == "ftp://a/1")
        #expect(world.store.facts.transfers.count == 3)
        let next = try world.submit()
        #expect(next.id == TransferID(rawValue: 4))
    }

    @Test func `bundles share the places at a server, however many transfers one has`() throws {
        var world = TransferWorld()
        for _ in 0..<100 { try world.submit(bundle: "org.greedy") }
        let modest = try (0..<3).map { _ in try world.submit(bundle: "org.modest").id }
        world.orders = []
        world.end(TransferID(rawValue: 1), .refused)
        world.end(TransferID(rawValue: 2), .refused)
        world.end(TransferID(rawValue: 3), .refused)
        #expect(world.begun() == modest)
        world.end(modest[0], .refused)
        #expect(world.begun() == [TransferID(rawValue: 7)])
    }

    @Test func `waits between attempts double up to 15 min, and a new byte begins them again`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        var waits: [Int64] = []
        for _ in 0..<10 {
            world.end(id, .faulty, completed: 0)
            let next = try #require(world[id]?.notBefore)
            #expect(world.alarm.wall == next)
            waits.append((next - world.now.wall).components.seconds)
            world.orders = []
            world.pass(next - world.now.wall - .milliseconds(1))
            #expect(world.begun().isEmpty)
            world.pass(.milliseconds(1))
            #expect(world.begun() == [id])
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
        world.give(.transfers([.progress(id, completed: 7, total: 10, received: 7, sent: 0)]))
        world.end(id, .faulty, completed: 7)
        #expect(world[id]?.notBefore == world.now.wall + .seconds(5))
    }

    @Test func `a server that asks for time gets it, but at most an hour`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.end(id, .busy, retryAfter: .seconds(77))
        #expect(world[id]?.notBefore == world.now.wall + .seconds(77))
        world.pass(.seconds(77))
        world.end(id, .busy, retryAfter: .seconds(1_000_000))
        #expect(world[id]?.notBefore == world.now.wall + .seconds(3600))
    }

    @Test func `a transfer fails after its resource time, to the millisecond`() throws {
        var world = TransferWorld()
        let id = try world.submit { $0.resourceLimit = .seconds(7) }.id
        world.end(id, .faulty)
        world.pass(.seconds(5))
        #expect(world[id]?.state == .running)
        world.orders = []
        world.pass(.milliseconds(1999))
        #expect(world[id]?.state == .running)
        #expect(world.alarm.boot == world.now.boot + .milliseconds(1))
        world.pass(.milliseconds(1))
        #expect(world.orders.first == .cancel(id))
        let stored = try #require(world.store.facts.transfers.first)
        #expect(stored.outcome == .failed)
        #expect(stored.failure?.code == TransferFailure.HostCode.timedOut.rawValue)
    }

    @Test func `a discretionary transfer waits for power, and stops when the charger is unplugged`() throws {
        var world = TransferWorld()
        func plug(_ isPlugged: Bool) -> HostInput {
            var conditions = Conditions.simulatedStart
            conditions.power = .known(
                PowerCondition(externalPower: isPlugged, isCharging: false, batteryPercent: 80))
            return .conditions(conditions)
        }
        world.give(plug(false))
        let id = try world.submit { $0.isDiscretionary = true }.id
        let immediate = try world.submit().id
        #expect(world.begun() == [immediate])
        #expect(
            world.core.explainedTransfer(id, at: world.now)?.vetoes.map(\.policy) == ["ExternalPower"])
        world.give(plug(true))
        #expect(world.begun() == [id])
        world.give(plug(false))
        #expect(world.orders == [.cancel(id)])
        world.end(id, .cancelled, completed: 4)
        #expect(world[id]?.state == .waiting && world[id]?.failures == 0)
        #expect(world.begun().isEmpty)
        world.give(plug(true))
        #expect(world.begun() == [id])
    }

    @Test func `a transfer waits for its earliest begin date, and for an unmetered network if it must`()
        throws
    {
        var world = TransferWorld()
        let begin = world.now.wall + .seconds(60)
        let late = try world.submit { $0.earliestBeginDate = begin }.id
        #expect(world.begun().isEmpty)
        world.pass(.seconds(60))
        #expect(world.begun() == [late])
        var metered = Conditions.simulatedStart
        metered.network = .known(.metered)
        world.give(.conditions(metered))
        let free = try world.submit { $0.allowsMetered = false }.id
        let any = try world.submit().id
        #expect(world.begun() == [any])
        metered.network = .known(.unmetered)
        world.give(.conditions(metered))
        #expect(world.begun() == [free])
    }

    @Test func `a new host begins the transfers again that a dead one left, and none that ended`() throws {
        var world = TransferWorld()
        let ids = try (0..<3).map { _ in try world.submit().id }
        world.end(ids[0], .refused)
        world.end(ids[1], .finished, completed: 5)
        #expect(world[ids[1]]?.state == .finishing)
        world.begin()
        #expect(world.begun() == [ids[1], ids[2]])
        #expect(world[ids[0]]?.outcome == .refused)
        #expect(try world.submit().id == TransferID(rawValue: 4))
    }

    @Test func `transfers of a program that dies begin again at once, but one that kills it waits`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        for _ in 0..<2 {
            world.orders = []
            world.end(id, .lost)
            #expect(world.begun() == [id])
        }
        world.end(id, .lost)
        #expect(world.begun().isEmpty)
        #expect(world[id]?.notBefore != nil)
    }

    @Test func `a cancelled transfer ends at once, and its late reports change nothing`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        let cancelled = try world.call(.cancelTransfer(id))
        #expect(cancelled.outcome == .cancelled)
        #expect(world.orders.contains(.cancel(id)) && world.orders.last == .remove(id))
        world.end(id, .finished, completed: 9)
        #expect(world[id] == cancelled)
        #expect(throws: SubmissionError.self) { try world.call(.cancelTransfer(id)) }
        #expect(throws: SubmissionError.self) { try world.call(.cancelTransfer(TransferID(rawValue: 99))) }
    }

    @Test func `an end that can't be stored is stored later, and only then published`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.failures = [
            .store(StoreError(code: .diskFull, subject: "disk", finding: "full", remedy: "free some"))
        ]
        world.orders = []
        world.end(id, .refused)
        #expect(world.events.last?.state == .running)
        #expect(world.orders.isEmpty)
        world.pass(HostCore.storeRetryDelay)
        #expect(world.store.facts.transfers[0].outcome == .refused)
        #expect(world.events.last?.outcome == .refused)
        #expect(world.orders == [.remove(id)])
    }

    @Test func `bytes count once for their bundle and day, and apart on a metered network`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        let bundle = try BundleIdentifier("org.example")
        world.give(.transfers([.progress(id, completed: 10, total: 100, received: 10, sent: 1)]))
        world.give(.transfers([.progress(id, completed: 10, total: 100, received: 10, sent: 1)]))
        var metered = Conditions.simulatedStart
        metered.network = .known(.metered)
        world.give(.conditions(metered))
        world.give(.transfers([.progress(id, completed: 30, total: 100, received: 30, sent: 1)]))
        let today = try #require(
            world.core.bundleFacts(at: world.now).first { $0.bundle == bundle }?.transferredToday)
        #expect(today.received == 30 && today.meteredReceived == 20 && today.sent == 1)
        world.end(id, .refused, completed: 30)
        #expect(world.store.facts.transferUse[bundle]?.days.values.map(\.received) == [30])
        world.pass(.seconds(86_400))
        #expect(
            world.core.bundleFacts(at: world.now).first { $0.bundle == bundle }?.transferredToday
                == TransferBytes())
    }

    @Test func `the host remembers the last thousand that have ended`() throws {
        var world = TransferWorld()
        for number in 1...1002 {
            try world.submit()
            world.end(TransferID(rawValue: Int64(number)), .refused)
        }
        #expect(world.store.facts.transfers.count == 1000)
        #expect(world.store.facts.transfers.map(\.id).min() == TransferID(rawValue: 3))
        #expect(world.orders.contains(.remove(TransferID(rawValue: 2))))
        #expect(!world.core.transfers.hasOpen)
    }

    /// A row of twenty-four slow transfers would otherwise hold up all others for days.
    @Test func `a bundle that uses all places gives one to each other bundle that waits`() throws {
        var world = TransferWorld()
        for number in 0..<40 { try world.submit("http://s\(number)/x", bundle: "org.greedy") }
        world.orders = []
        let modest = try world.submit("http://other/x", bundle: "org.modest").id
        // The youngest of the greedy bundle.
        #expect(world.orders == [.cancel(TransferID(rawValue: 24))])
        world.end(TransferID(rawValue: 24), .cancelled, completed: 7)
        #expect(world.begun() == [modest])
        #expect(world[TransferID(rawValue: 24)]?.state == .waiting)
        #expect(world[TransferID(rawValue: 24)]?.failures == 0)
        // Twelve each are fair, so the next ones of either bundle stop none.
        for number in 0..<20 { try world.submit("http://m\(number)/x", bundle: "org.modest") }
        for _ in 0..<30 {
            guard let id = world.cancelled().first else { break }
            world.end(id, .cancelled)
        }
        let running = world.core.transfers.running.compactMap { world[$0]?.request.bundle.rawValue }
        #expect(running.filter { $0 == "org.greedy" }.count == 12)
        #expect(running.filter { $0 == "org.modest" }.count == 12)
        world.orders = []
        world.pass(.seconds(60))
        #expect(world.orders.isEmpty)
    }

    @Test func `the six places of one server are shared, too, and an upload is stopped last`() throws {
        var world = TransferWorld()
        for number in 0..<6 {
            try world.submit(bundle: "org.greedy") { if number > 3 { $0.direction = .upload } }
        }
        world.orders = []
        let modest = try world.submit(bundle: "org.modest").id
        #expect(world.orders == [.cancel(TransferID(rawValue: 4))])
        world.end(TransferID(rawValue: 4), .cancelled)
        #expect(world.begun() == [modest])
    }

    @Test func `a wall clock that is set ends no transfer`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.now.wall = world.now.wall + .seconds(30 * 86_400)
        world.give(.timePassed(localTimeOffset: .zero))
        #expect(world[id]?.state == .running)
        world.now.wall = world.now.wall + .seconds(-60 * 86_400)
        world.pass(.seconds(7 * 86_400 - 1))
        #expect(world[id]?.state == .running)
        world.pass(.seconds(1))
        #expect(world[id]?.outcome == .failed)
    }

    @Test func `a wait of nothing between attempts is refused`() throws {
        var world = TransferWorld()
        #expect(throws: SubmissionError.self) { try world.submit { $0.retryDelay = .zero } }
        #expect(throws: SubmissionError.self) { try world.submit { $0.retryDelay = .milliseconds(9) } }
        try world.submit { $0.retryDelay = .milliseconds(10) }
    }

    @Test func `a full disk does not keep a user from cancelling, and the files go first`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        let full = StoreRefusal.store(
            StoreError(code: .diskFull, subject: "disk", finding: "full", remedy: "free some"))
        world.failures = [full]
        world.orders = []
        world.ask(.cancelTransfer(id))
        #expect(world.orders == [.cancel(id), .remove(id)])
        #expect(world.answers[world.lastCall] == nil)
        world.pass(HostCore.storeRetryDelay)
        guard case .transfer(let transfer)? = world.answers[world.lastCall] else {
            Issue.record("\(String(describing: world.answers[world.lastCall]))")
            return
        }
        #expect(transfer.outcome == .cancelled)
        // A disk that stays full refuses the caller, and not the end.
        let second = try world.submit().id
        world.failures = [full, full]
        world.ask(.cancelTransfer(second))
        world.pass(HostCore.storeRetryDelay)
        guard case .refused? = world.answers[world.lastCall] else {
            Issue.record("the caller waits for ever")
            return
        }
        world.pass(HostCore.storeRetryDelay)
        #expect(world.store.facts.transfers.last?.outcome == .cancelled)
    }

    @Test func `a host that stops counts the bytes of its last attempts`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        world.orders = []
        world.give(.stop)
        #expect(world.orders == [.cancel(id)])
        #expect(!world.isDrained)
        world.end(id, .cancelled, completed: 4321)
        #expect(world.isDrained)
        let stored = try #require(world.store.facts.transfers.first)
        #expect(stored.state == .waiting && stored.received == 4321)
        #expect(world.store.facts.transferUse.values.first?.days.values.first?.received == 4321)
    }

    @Test func `a host that stops waits at most 2 s for a program that does not answer`() throws {
        var world = TransferWorld()
        try world.submit()
        world.give(.stop)
        #expect(world.alarm.boot == world.now.boot + .seconds(2))
        world.pass(.seconds(2))
        #expect(world.isDrained)
    }

    @Test func `a bundle's bytes on metered networks have a limit for each day`() throws {
        var world = TransferWorld()
        var metered = Conditions.simulatedStart
        metered.network = .known(.metered)
        world.give(.conditions(metered))
        let id = try world.submit().id
        let other = try world.submit(bundle: "org.other").id
        world.orders = []
        world.give(.transfers([.progress(id, completed: 0, total: nil, received: 1 << 30, sent: 0)]))
        #expect(world.orders == [.cancel(id)])
        world.end(id, .cancelled)
        #expect(world[id]?.state == .waiting && world[other]?.state == .running)
        let veto = try #require(world.core.explainedTransfer(id, at: world.now)?.vetoes.first)
        #expect(veto.policy == "TransferBudget")
        #expect(veto.rationale.first?.earliestChange == world.alarm.wall)
        world.orders = []
        world.give(.conditions(.simulatedStart))
        #expect(world.begun() == [id])
        world.give(.conditions(metered))
        world.end(id, .cancelled)
        let midnight = try #require(world.alarm.wall)
        world.pass(midnight - world.now.wall)
        #expect(world.begun() == [id])
    }

    /// The program has taken these bytes from what the bundle may move. If the host did not count them, the
    /// program would pause the bundle's other transfers for ever.
    @Test func `the last bytes of a cancelled attempt count for its bundle`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        let bundle = try BundleIdentifier("org.example")
        world.give(.transfers([.progress(id, completed: 10, total: 100, received: 10, sent: 1)]))
        _ = try world.call(.cancelTransfer(id))
        #expect(world[id]?.outcome == .cancelled)
        for _ in 1...2 { world.end(id, .cancelled, completed: 70) }
        let today = try #require(
            world.core.bundleFacts(at: world.now).first { $0.bundle == bundle }?.transferredToday)
        #expect(today.received == 70 && today.sent == 1)
    }

    @Test func `with a limit of 0 B, nothing begins on a metered network, and something is said`() throws {
        var world = TransferWorld()
        var settings = VirtualManifests.settings[0]
        settings.effective.meteredTransfersPerDay = ByteCount(bytes: 0)
        world.give(.settings(settings))
        var metered = Conditions.simulatedStart
        metered.network = .known(.metered)
        world.give(.conditions(metered))
        let id = try world.submit().id
        #expect(world[id]?.state == .waiting)
        #expect(world.core.explainedTransfer(id, at: world.now)?.vetoes.first?.policy == "TransferBudget")
        world.give(.conditions(.simulatedStart))
        #expect(world[id]?.state == .running)
    }

    @Test func `the bytes of a reserved transfer that was cancelled as it began count for its bundle`() throws
    {
        var world = TransferWorld()
        for _ in 0..<10 { try world.submit("http://one/x") }
        let id = try #require(world.reserved.first)
        let bundle = try BundleIdentifier("org.example")
        _ = try world.call(.cancelTransfer(id))
        world.give(.transfers([.began(id)]))
        world.end(id, .cancelled, completed: 70)
        let today = try #require(
            world.core.bundleFacts(at: world.now).first { $0.bundle == bundle }?.transferredToday)
        #expect(today.received == 70)
    }

    @Test func `a reserved transfer whose order can't be made ends`() throws {
        var world = TransferWorld()
        for _ in 0..<10 { try world.submit("http://one/x") }
        let id = try #require(world.reserved.first)
        world.end(id, .futile)
        #expect(world[id]?.outcome == .failed)
    }

    @Test func `a program can claim any number of bytes`() throws {
        var use = TransferUse()
        for _ in 0..<10_000 { use.add(received: 1 << 50, sent: 1 << 50, isMetered: true, on: 1) }
        #expect(use.days[1]?.received == 1 << 60 && use.days[1]?.metered == 1 << 61)
    }

    /// Otherwise, a bundle exceeds its bytes by all that the link moves until the host has stopped it.
    @Test func `the program learns how many bytes a bundle may move, and when that changes`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        #expect(world.orders.last == .begin(try #require(world[id]), bytesLeft: nil))
        var metered = Conditions.simulatedStart
        metered.network = .known(.metered)
        world.give(.conditions(metered))
        #expect(world.allowed == [1 << 30])
        world.give(.transfers([.progress(id, completed: 5, total: nil, received: 5, sent: 0)]))
        #expect(world.allowed == [1 << 30])
        world.orders = []
        let other = try world.submit().id
        #expect(world.orders == [.begin(try #require(world[other]), bytesLeft: (1 << 30) - 5)])
        world.give(.conditions(.simulatedStart))
        #expect(world.allowed == [1 << 30, nil])
        // The program counts on for a bundle without transfers, so it also learns of changes for it.
        for id in [id, other] { world.end(id, .refused) }
        world.give(.conditions(metered))
        try world.submit()
        let rest: Int64 = (1 << 30) - 5
        #expect(world.allowed == [1 << 30, nil, rest])
    }

    @Test func `the program holds transfers in reserve, and those that may not go on are taken back`() throws
    {
        var world = TransferWorld()
        for _ in 0..<100 { try world.submit("http://one/x") }
        #expect(world.reserved.map(\.rawValue) == Array(7...71))
        #expect(world[TransferID(rawValue: 7)]?.state == .waiting)
        let (first, next) = (TransferID(rawValue: 1), TransferID(rawValue: 7))
        world.orders = []
        let end = TransferWorld.attemptEnd(.refused)
        world.give(.transfers([.ended(first, end, received: 0, sent: 0), .began(next)]))
        #expect(world.begun().isEmpty && world[next]?.state == .running && world[next]?.attempts == 1)
        // One that was not begun is given back, as if it had never been ordered.
        _ = try world.call(.cancelTransfer(TransferID(rawValue: 8)))
        #expect(world.cancelled() == [TransferID(rawValue: 8)])
        var none = Conditions.simulatedStart
        none.network = .known(.none)
        world.give(.conditions(none))
        let stopped = world.cancelled()
        #expect(stopped.first == TransferID(rawValue: 9))
        #expect(
            Set(stopped)
                == Set(world.reserved + (2...7).map { TransferID(rawValue: $0) })
                .subtracting([TransferID(rawValue: 8)]))
        for id in stopped { world.end(id, .cancelled) }
        #expect(world[TransferID(rawValue: 9)]?.attempts == 0 && world.core.transfers.running.isEmpty)
    }

    /// The program may open its file after the host has removed the files.
    @Test func `the files of a cancelled transfer are removed again after its attempt has ended`() throws {
        var world = TransferWorld()
        let id = try world.submit().id
        _ = try world.call(.cancelTransfer(id))
        world.orders = []
        world.end(id, .cancelled)
        #expect(world.orders == [.remove(id)])
    }

    @Test func `a transfer that waits for its date says so`() throws {
        var world = TransferWorld()
        let date = world.now.wall + .seconds(3600)
        let id = try world.submit { $0.earliestBeginDate = date }.id
        #expect(
            world.core.explainedTransfer(id, at: world.now)?.vetoes.map(\.policy) == ["EarliestBeginDate"])
    }

    @Test func `in low-data mode, only transfers that allow it go on`() throws {
        var world = TransferWorld()
        let running = try world.submit { $0.allowsConstrained = false }.id
        #expect(world.begun() == [running])
        var saving = Conditions.simulatedStart
        saving.network = .known(.constrained)
        world.give(.conditions(saving))
        #expect(world.orders == [.cancel(running)])
        world.end(running, .cancelled)
        world.orders = []
        let allowed = try world.submit().id
        let discretionary = try world.submit { $0.isDiscretionary = true }.id
        #expect(world.begun() == [allowed])
        #expect(world[running]?.state == .waiting && world[discretionary]?.state == .waiting)
        world.give(.conditions(.simulatedStart))
        #expect(Set(world.begun()) == [running, discretionary])
    }

    @Test func `a listing says of each transfer what the transfer's own page says`() throws {
        var world = TransferWorld()
        var saving = Conditions.simulatedStart
        saving.network = .known(.constrained)
        world.give(.conditions(saving))
        let date = world.now.wall + .seconds(3600)
        for number in 0..<16 {
            _ = try world.submit(bundle: number < 8 ? "org.example" : "org.other") {
                $0.isDiscretionary = number % 2 == 0
                $0.allowsConstrained = number % 3 == 0
                $0.earliestBeginDate = number % 4 == 0 ? date : nil
            }
        }
        let listed = world.core.explainedTransfers(at: world.now)
        #expect(listed.count == 16 && Set(listed.map { $0.vetoes.map(\.policy) }).count >= 3)
        for row in listed {
            let alone = try #require(world.core.explainedTransfer(row.transfer.id, at: world.now))
            #expect(row.vetoes == alone.vetoes, "\(row.transfer.id)")
        }
    }

    @Test func `the response of a large file is stored when it comes, and a new host knows it`() throws {
        var world = TransferWorld()
        let (large, small) = (try world.submit().id, try world.submit().id)
        let response = TransferResponse(status: 200, url: "http://a/x", headers: ["HTTP/1.1 200 OK"])
        world.give(.transfers([.response(large, response, total: 1 << 21)]))
        world.give(.transfers([.response(small, response, total: 1 << 10)]))
        world.begin()
        #expect(world[large]?.response == response)
        #expect(world[small]?.response == nil)
    }

    @Test func `a new host sweeps the files of all transfers but those that someone needs`() throws {
        var world = TransferWorld()
        let (open, ended) = (try world.submit().id, try world.submit().id)
        let kept = try world.submit { $0.file = nil }.id
        world.end(ended, .refused)
        world.end(kept, .finished, completed: 5)
        world.begin()
        #expect(world.orders.first == .sweep(keeping: [open, kept], uploads: []))
    }

    @Test func `thousands of servers that fail cost little`() throws {
        var world = TransferWorld()
        for number in 0..<2300 { try world.submit("http://s\(number)/x") { $0.file = nil } }
        for _ in 0..<2300 {
            guard let id = world.core.transfers.running.min() else { break }
            world.end(id, .faulty)
        }
        #expect(world.core.transfers.all.allSatisfy { $0.attempts == 1 })
    }
}
