import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// What real task processes report besides their result.
@Suite(.system, .serialized) struct LaunchWordsTests {
    @Test func `the first fault is a crash's message, its number the code, its further lines the report`()
        async throws
    {
        let harness = try await LaunchHarness()
        let sight = try await harness.run(harness.order("faults"))
        let end = try #require(sight.end)
        #expect(end.outcome == .crashed && end.reason == .signal)
        #expect(end.message == "0x8badf00d: an assertion leaked")
        #expect(end.code == 0x8bad_f00d)
        #expect(end.report == "flush, 31 s")
        let faults = sight.events.filter { if case .faulted = $0 { true } else { false } }
        #expect(faults.count == 1)
        await harness.end()
    }

    @Test func `a fault after completion leaves the outcome and stands in the report`() async throws {
        let harness = try await LaunchHarness()
        let sight = try await harness.run(harness.order("faults-at-the-end"))
        let end = try #require(sight.end)
        #expect(end.outcome == .succeeded && end.message == "fine" && end.code == nil)
        #expect(end.report == "NSInternalInconsistencyException: too late")
        #expect(!sight.events.contains { if case .neverListened = $0 { true } else { false } })
        await harness.end()
    }

    @Test(arguments: [true, false])
    func `an expiration that finds no listener ends the launch, and one that finds a poll may come again`(
        _ polls: Bool
    ) async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order(polls ? "polls" : "no-handler-ever")
        harness.launcher.launch(order)
        try await harness.wait(for: "its word") {
            harness.sight(order.id).events.contains { if case .log = $0 { true } else { false } }
        }
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "its end") { harness.sight(order.id).end != nil }
        let end = try #require(harness.sight(order.id).end)
        #expect(end.outcome == .expired && end.completion == nil, "\(end)")
        #expect(end.neverListened == !polls, "\(end)")
        await harness.end()
    }

    @Test func `a launch has its own temporary directory and the bundle's home, whatever it is made from`()
        async throws
    {
        let harness = try await LaunchHarness()
        for number in 0..<3 {
            var order = try harness.order("folders")
            order.isFresh = number == 2
            order.environment += ["HOME=/nowhere", "XDG_CONFIG_HOME=/nowhere"]
            order.place.temporaryDirectory += "/\(number)"
            let end = try #require(try await harness.run(order).end)
            #expect(end.message == "\(order.place.temporaryDirectory) \(order.place.dataDirectory)")
        }
        await harness.end()
    }

    @Test func `a launch's advice is told a hundred times, made harmless, then said to be too much once`()
        async throws
    {
        let harness = try await LaunchHarness()
        let order = try harness.order("advises")
        let sight = try await harness.run(order)
        let advice = sight.events.filter { if case .advice = $0 { true } else { false } }
        #expect(advice.count == 100)
        #expect(advice.first == .advice(order.id, code: "chatty", message: "a sentence with \\x1b[31m"))
        let warnings = sight.events.filter { if case .log(_, .warning, _, _, _) = $0 { true } else { false } }
        #expect(warnings.count == 1)
        #expect(sight.events.contains(.neverListened(order.id)))
        await harness.end()
    }

    @Test func `a launch is given all that it has, also where that is more than a pipe or a frame holds`()
        async throws
    {
        let harness = try await LaunchHarness()
        for size in [0, 100, 30_000, 49_000] {
            var order = try harness.order("weighs")
            order.request.submission.payload = String(repeating: "x", count: size)
            order.begun.checkpoint = [UInt8](repeating: 7, count: size)
            let end = try #require(try await harness.run(order).end)
            #expect(end.outcome == .succeeded, "\(end)")
            #expect(end.message == "payload \(size), checkpoint \(size)")
        }
        await harness.end()
    }

    @Test func `the last title is told, those before it seldom`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("titles")
        let sight = try await harness.run(order)
        let titles = sight.events.filter { if case .titleChanged = $0 { true } else { false } }
        #expect(titles.last == .titleChanged(order.id, title: "the last", subtitle: "line\\x1btwo"))
        #expect(titles.count < 500, "1,001 calls must be coalesced; \(titles.count) were told")
        await harness.end()
    }

    @Test func `a launch is told its conditions at its start and when they differ, and only then`()
        async throws
    {
        let harness = try await LaunchHarness()
        var order = try harness.order("waits-for-deferral")
        var conditions = HandlerConditions(.simulatedStart, refresh: .available)
        order.conditions = conditions
        let id = order.id
        harness.launcher.launch(order)
        // The launch has not started yet; it gets the newest conditions when it starts.
        conditions.batteryPercent = 50
        harness.launcher.setConditions(id, conditions)
        try await harness.wait(for: "ready") { harness.isReady(id) }
        harness.launcher.setConditions(id, conditions)
        conditions.thermal = .fair
        harness.launcher.setConditions(id, conditions)
        conditions.shouldDefer = true
        harness.launcher.setConditions(id, conditions)
        try await harness.wait(for: "end") { harness.sight(id).end != nil }
        let lines = harness.sight(id).events.compactMap {
            if case .output(_, _, let line) = $0 { line } else { nil }
        }
        #expect(lines.last == "battery 50 thermal 1 defer 1")
        #expect(harness.sight(id).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `a launch without conditions is told none`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("waits-for-deferral")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        var conditions = HandlerConditions(.simulatedStart, refresh: .available)
        conditions.shouldDefer = true
        harness.launcher.setConditions(order.id, conditions)
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        #expect(harness.sight(order.id).end?.outcome == .expired)
        await harness.end()
    }
}
