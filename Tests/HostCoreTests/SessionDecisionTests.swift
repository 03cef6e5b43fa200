import ControlWire
import MemoryStore
import TaskModel
import Testing

@testable import HostCore

/// A host in a virtual world, whose tasks have background sessions.
struct SessionRig {
    var rig: SituationRig
    private var lastCall: UInt64 = 0

    init() throws { rig = try SituationRig() }

    /// Launches a task and returns the number of the launch.
    mutating func launch(_ name: String) throws -> LaunchID {
        try rig.call(.simulate(SituationRig.identifier(name), debug: false))
        return try #require(running(name))
    }

    func running(_ name: String) -> LaunchID? {
        let identifier = SituationRig.identifier(name)
        return rig.world.tasks.first { $0.value.order.record.identifier == identifier }?.key
    }

    mutating func end(_ name: String, _ outcome: Outcome = .succeeded, after time: Duration = .zero) throws {
        rig.world.pass(time)
        var end = LaunchEnd(outcome: outcome, reason: nil)
        end.completion = outcome == .succeeded ? true : nil
        try rig.end(name, end)
    }

    /// Asks something for a launch; returns the number of the call.
    @discardableResult
    mutating func send(
        _ ask: SessionQuestion.Ask, _ id: LaunchID, _ change: (inout SessionQuestion) -> Void = { _ in }
    ) throws -> UInt64 {
        let call = try queue(ask, id, change)
        try rig.calm()
        return call
    }

    /// Asks something for a launch, without letting the host work; returns the number of the call.
    mutating func queue(
        _ ask: SessionQuestion.Ask, _ id: LaunchID, _ change: (inout SessionQuestion) -> Void
    ) throws -> UInt64 {
        var question = SessionQuestion(ask)
        question.session = "editions"
        change(&question)
        lastCall += 1
        rig.world.inputs.append(
            .launch(.sessionCall(id, call: lastCall, Array(try ControlJSON.line(question)))))
        return lastCall
    }

    /// The answer to a call; `nil` if there is none yet.
    func answer(_ call: UInt64) throws -> SessionAnswer? {
        guard let bytes = try rig.world.sessionAnswers[call]?.get() else { return nil }
        return try ControlJSON.decode(SessionAnswer.self, from: String(decoding: bytes, as: UTF8.self))
    }

    @discardableResult
    mutating func ask(
        _ ask: SessionQuestion.Ask, _ id: LaunchID, _ change: (inout SessionQuestion) -> Void = { _ in }
    ) throws -> SessionAnswer {
        let call = try send(ask, id, change)
        return try #require(try answer(call))
    }

    /// Begins a download for a launch.
    mutating func begin(
        _ id: LaunchID, _ change: (inout SessionRequest) -> Void = { _ in }
    ) throws -> TransferID {
        var request = SessionRequest(url: "http://a/x")
        change(&request)
        return try #require(try ask(.begin, id) { $0.request = request }.transfer)
    }

    mutating func finish(_ id: TransferID, _ kind: TransferAttemptEnd.Kind = .finished) throws {
        rig.world.inputs.append(
            .transfers([.ended(id, TransferAttemptEnd(kind, completed: 10), received: 10, sent: 0)]))
        try rig.calm()
        guard kind == .finished, self[id]?.state == .finishing else { return }
        rig.world.inputs.append(.transfers([.delivered(id, nil)]))
        try rig.calm()
    }

    subscript(id: TransferID) -> Transfer? { rig.world.core.transfers[id] }

    /// How many launches the events of sessions had.
    var deliveries: Int {
        launches(of: "events").count
    }

    func launches(of name: String) -> [LaunchRecord] {
        rig.world.store.launches(identifier: SituationRig.identifier(name), limit: 100, before: nil)
    }
}

@Suite struct SessionDecisionTests {
    @Test func `a session's transfer is durable, and the bundle is launched once when all have ended`() throws
    {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let (first, second) = (try rig.begin(launch), try rig.begin(launch))
        #expect(rig[first]?.request.handover == "\(first)" && rig[first]?.request.session == "editions")
        try rig.end("quiet")
        try rig.finish(first)
        #expect(rig[first]?.isUntold == true && rig.running("events") == nil, "the other one is under way")
        try rig.finish(second)
        let events = try #require(rig.running("events"))
        let payload = rig.rig.world.tasks[events]?.order.request.submission.payload
        #expect(payload == #"{"session":"editions"}"#)

        try rig.ask(.attach, events)
        #expect(try rig.ask(.list, events).news?.transfer == first)
        let news = try rig.ask(.list, events) { $0.transfer = first }.news
        #expect(news?.transfer == second && news?.file == "\(second)" && news?.outcome == .succeeded)
        #expect(try rig.ask(.list, events) { $0.transfer = second }.news == nil)
        for id in [first, second] { try rig.ask(.told, events) { $0.transfer = id } }
        try rig.end("events")
        #expect(rig.running("events") == nil && rig.deliveries == 1)
        try rig.rig.restart()
        #expect(rig.deliveries == 1, "what was handled stays so")
    }

    @Test(arguments: [false, true])
    func `of two launches with the session, one handles an end, and the other if that one leaves`(
        detaches: Bool
    ) throws {
        var rig = try SessionRig()
        let (other, launch) = (try rig.launch("events"), try rig.launch("quiet"))
        for id in [other, launch] { try rig.ask(.attach, id) }
        let id = try rig.begin(launch)
        /// Reads the news of a launch up to an end, or until it waits.
        func read(_ launch: LaunchID, after call: UInt64? = nil) throws -> (end: TransferID?, waits: UInt64?)
        {
            var next = call
            while true {
                let call = try next ?? rig.send(.next, launch)
                guard let news = try rig.answer(call)?.news else { return (nil, call) }
                if news.state == .ended { return (news.transfer, nil) }
                next = nil
            }
        }
        var waiting = try read(other).waits
        try rig.finish(id)
        // The one that waits has asked first, but the other one has begun the transfer.
        waiting = try read(other, after: waiting).waits
        #expect(waiting != nil)
        #expect(try read(launch).end == id)
        #expect(try rig.ask(.list, other).news == nil)
        if detaches { try rig.ask(.detach, launch) } else { try rig.end("quiet") }
        #expect(try read(other, after: waiting).end == id)
        try rig.ask(.told, other) { $0.transfer = id }
        #expect(try rig.ask(.list, other).news == nil)
    }

    @Test func `a launch that has the session hears of each change, and no other is begun`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        try rig.ask(.attach, launch)
        let call = try rig.send(.next, launch)
        #expect(try rig.answer(call) == nil, "there is no news yet")
        let id = try rig.begin(launch)
        #expect(try rig.answer(call)?.news?.transfer == id)
        var heard: [TransferState] = []
        for _ in 0..<10 {
            let next = try rig.send(.next, launch)
            guard let news = try rig.answer(next)?.news else { break }
            heard.append(news.state)
        }
        #expect(heard.last == .running, "\(heard)")
        try rig.finish(id)
        #expect(rig.running("events") == nil)
        // It dies before it confirms that it has handled the end.
        try rig.end("quiet", .crashed)
        #expect(rig.running("events") != nil)
    }

    @Test(arguments: [nil, true, false])
    func `a session whose ends launch nothing leads to advice, once, unless it wants no launches`(
        wants: Bool?
    ) throws {
        var rig = try SessionRig()
        var photos = SituationRig.handler("photos")
        photos.manifest.tasks.removeAll { $0.kind == .transferEvents }
        try rig.rig.install([photos])
        let launch = try rig.launch("quiet")
        for _ in 0..<2 { _ = try rig.begin(launch) { $0.sendsLaunchEvents = wants } }
        let advice = rig.rig.world.core.advice.entries[SituationRig.bundle]?.advice ?? []
        #expect(advice.map(\.code) == (wants == false ? [] : ["noTransferEvents"]))
        #expect(wants == false || advice.first?.message.contains("session editions") == true)
    }

    @Test func `an end that the task has confirmed before it is durable launches nothing`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        try rig.ask(.attach, launch)
        let later = Timestamp(rig.rig.world.now.wall + .seconds(900))
        let id = try rig.begin(launch) { $0.earliestBeginDate = later }
        var calls: [UInt64] = []
        for ask in [SessionQuestion.Ask.cancel, .told] {
            calls.append(try rig.queue(ask, launch) { $0.transfer = id })
        }
        try rig.rig.calm()
        #expect(try rig.answer(calls[0])?.transfer == id && rig[id]?.isTold == true)
        try rig.end("quiet")
        #expect(rig.deliveries == 0 && rig.running("events") == nil)
        try rig.rig.restart()
        #expect(rig.deliveries == 0 && rig[id]?.isTold == true)
    }

    @Test func `a bundle sees, cancels and confirms only its own transfers`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let id = try rig.begin(launch)
        let other = try rig.launch("mail.quiet")
        try rig.ask(.attach, other)
        #expect(try rig.ask(.list, other).news == nil)
        for ask in [SessionQuestion.Ask.cancel, .told, .decide] {
            let call = try rig.send(ask, other) { $0.transfer = id }
            #expect(throws: SubmissionError.self) { try rig.answer(call) }
        }
        let stolen = try rig.send(.begin, other) {
            $0.request = SessionRequest(url: "http://a/x")
            $0.request?.resumes = id
        }
        #expect(throws: SubmissionError.self) { try rig.answer(stolen) }
        #expect(rig[id]?.state == .running)
    }

    @Test func `transfers of background launches are discretionary, those that a user waits for are not`()
        throws
    {
        var rig = try SessionRig()
        let id = try rig.begin(rig.launch("quiet"))
        #expect(rig[id]?.request.isDiscretionary == true)
        try rig.rig.submit("export") { $0.title = "Export" }
        let export = try #require(rig.running("export"))
        let other = try rig.begin(export)
        #expect(rig[other]?.request.isDiscretionary == false)
    }

    @Test func `a host that dies between the end and the launch launches the bundle when it starts again`()
        throws
    {
        var rig = try SessionRig()
        let id = try rig.begin(rig.launch("quiet"))
        try rig.end("quiet")
        rig.rig.world.inputs.append(
            .transfers([.ended(id, TransferAttemptEnd(.finished, completed: 10), received: 10, sent: 0)]))
        try rig.rig.calm()
        // The store has the end, and the host dies before it learns that.
        rig.rig.world.inputs.append(.transfers([.delivered(id, nil)]))
        try rig.rig.world.takeInput()
        rig.rig.world.commit()
        try rig.rig.restart()
        #expect(rig.running("events") != nil)
        #expect(rig.deliveries == 1)
    }

    @Test func `the transfers of a dismissed bundle are cancelled, and it is not launched for that`() throws {
        var rig = try SessionRig()
        let id = try rig.begin(rig.launch("quiet"))
        try rig.end("quiet")
        try rig.rig.call(.change(SituationRig.bundle, .dismissed))
        #expect(rig[id]?.outcome == .cancelled && rig.running("events") == nil)
        try rig.rig.restart()
        #expect(rig.running("events") == nil)
        // The next process that has the session hears of it.
        try rig.rig.call(.change(SituationRig.bundle, .used))
        let launch = try rig.launch("quiet")
        try rig.ask(.attach, launch)
        #expect(try rig.ask(.list, launch).news?.outcome == .cancelled)
    }

    @Test func `a slow launch makes the next one wait, and launches that do nothing end`() throws {
        var rig = try SessionRig()
        let id = try rig.begin(rig.launch("quiet"))
        try rig.end("quiet")
        try rig.finish(id)
        try rig.end("events", after: .seconds(20))
        #expect(rig.running("events") == nil, "the next one waits")
        let request = rig.rig.world.core.requests.request(of: SituationRig.identifier("events"))
        let wait = try #require(request?.submission.earliestBeginDate) - rig.rig.world.now.wall
        #expect(wait > .seconds(29) && wait <= .seconds(30))
        for _ in 0..<30 {
            if rig.running("events") == nil { try rig.rig.pass(.seconds(31)) }
            if rig.running("events") != nil { try rig.end("events") }
        }
        #expect(rig.deliveries == SessionBook.mostFruitless)
    }

    @Test func `a cancelled download keeps its bytes for the task that has its resume data`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let id = try rig.begin(launch)
        let call = try rig.send(.cancel, launch) {
            $0.transfer = id
            $0.keeps = true
        }
        #expect(try rig.answer(call) == nil, "the attempt must end first")
        try rig.finish(id, .cancelled)
        #expect(try rig.answer(call)?.resumable == true)
        #expect(rig[id]?.outcome == .cancelled && rig[id]?.keepsPart == true)
        #expect(!rig.rig.world.transferOrders.contains(.remove(id)))
        try rig.rig.restart()
        #expect(
            rig.rig.world.transferOrders.last == .sweep(keeping: [id], uploads: []),
            "the bytes outlive the host")
        let later = try rig.launch("quiet")
        let next = try rig.begin(later) { $0.resumes = id }
        #expect(rig.rig.world.transferOrders.contains(.move(id, to: next)))
        #expect(rig[next]?.completed == 10 && rig[id]?.keepsPart == nil)
    }

    @Test func `resume data is still good after a begin that the store refused`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let id = try rig.begin(launch)
        try rig.send(.cancel, launch) {
            $0.transfer = id
            $0.keeps = true
        }
        try rig.finish(id, .cancelled)
        #expect(rig[id]?.keepsPart == true)
        let call = try rig.queue(.begin, launch) {
            $0.request = SessionRequest(url: "http://a/x")
            $0.request?.resumes = id
        }
        rig.rig.isDiskFull = true
        try rig.rig.calm()
        rig.rig.isDiskFull = false
        #expect(throws: (any Error).self) { try rig.answer(call) }
        #expect(rig[id]?.keepsPart == true)
        let moves = rig.rig.world.transferOrders.filter { if case .move = $0 { true } else { false } }
        #expect(moves.isEmpty)
        let next = try rig.begin(launch) { $0.resumes = id }
        #expect(rig[next]?.completed == 10)
    }

    @Test func `a delegate decides about a transfer whose date has come, if a launch has the session`() throws
    {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        try rig.ask(.attach, launch)
        let date = rig.rig.world.now.wall + .seconds(5)
        let id = try rig.begin(launch) {
            $0.earliestBeginDate = Timestamp(date)
            $0.asksBeforeBegin = true
        }
        while let news = try rig.answer(rig.send(.next, launch))?.news { #expect(!news.asks) }
        try rig.rig.pass(.seconds(6))
        #expect(rig[id]?.state == .waiting, "the host waits for the decision")
        try rig.ask(.decide, launch) {
            $0.transfer = id
            $0.decision = .replace
            $0.request = SessionRequest(url: "http://a/newer")
        }
        #expect(rig[id]?.state == .running && rig[id]?.request.url == "http://a/newer")
    }

    @Test func `a task that waits for a cancelled attempt is answered if a user ends the transfer first`()
        throws
    {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let id = try rig.begin(launch)
        let call = try rig.send(.cancel, launch) {
            $0.transfer = id
            $0.keeps = true
        }
        try rig.rig.call(.cancelTransfer(id))
        #expect(try rig.answer(call)?.resumable == false)
        #expect(rig[id]?.outcome == .cancelled && rig[id]?.keepsPart == nil)
    }

    @Test func `a request that its delegate replaces after the time for that begins once, at the new server`()
        throws
    {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        try rig.ask(.attach, launch)
        // All places at the old server are taken.
        let others = try (0..<TransferBook.atOncePerServer).map { _ in try rig.begin(launch) }
        let date = rig.rig.world.now.wall + .seconds(5)
        let id = try rig.begin(launch) {
            $0.earliestBeginDate = Timestamp(date)
            $0.asksBeforeBegin = true
        }
        try rig.finish(others[0])
        try rig.rig.pass(.seconds(6))
        let last = try rig.begin(launch)
        try rig.rig.pass(.seconds(40))
        #expect(rig[id]?.state == .waiting && rig[last]?.state == .running)
        try rig.ask(.decide, launch) {
            $0.transfer = id
            $0.decision = .replace
            $0.request = SessionRequest(url: "http://newer/x")
        }
        #expect(rig[id]?.state == .running && rig[id]?.attempts == 1)
        try rig.finish(id)
        for other in others.dropFirst() + [last] { try rig.finish(other) }
        #expect(rig[id]?.state == .ended && rig[id]?.attempts == 1)
    }

    /// An order of which some transfers come before one another in a circle has no first one.
    @Test func `of one bundle, important transfers begin first, and bundles take turns by age`() throws {
        var rig = try SessionRig()
        let launch = try rig.launch("quiet")
        let other = try rig.launch("mail.quiet")
        try rig.rig.change { $0.network = .known(.none) }
        let low = try rig.begin(launch) { $0.priority = 0.1 }
        let foreign = try rig.begin(other)
        let high = try rig.begin(launch) { $0.priority = 0.9 }
        try rig.rig.change { $0.network = .known(.unmetered) }
        let begun = rig.rig.world.transferOrders.compactMap { order in
            if case .begin(let transfer, _) = order { transfer.id } else { nil }
        }
        #expect(begun == [high, foreign, low])
    }
}
