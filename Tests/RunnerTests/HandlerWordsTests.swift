import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// What a handler learns about its app and the machine, and what it reports besides its result.
@Suite(.system, .serialized) struct HandlerWordsTests {
    private static let mains = HandlerConditions(
        isLowPowerMode: false, thermal: .nominal, power: .external, batteryPercent: nil, refresh: .available,
        shouldDefer: false, network: .unmetered)
    private static let unplugged = HandlerConditions(
        isLowPowerMode: true, thermal: .serious, power: .battery, batteryPercent: 15, refresh: .denied,
        shouldDefer: false, hasGPU: true, network: .constrained)

    @Test(arguments: Mode.all)
    func `a handler knows what is permitted and what the machine is like, and hears of changes`(mode: Mode)
        throws
    {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("conditions", mode.isolation)
        let task = try launcher.launch(
            template, mode.isolation, fresh: mode.fresh, conditions: [Self.unplugged, Self.mains]
        ) {
            $0.permittedIdentifiers = ["com.example.test", "com.example.export.*"]
            $0.modes = ["fetch", "remote-notification"]
        }
        try task.waitUntilReady()
        try task.waitForLog()
        try task.send(ConditionsMessage(Self.mains))
        try task.send(ConditionsMessage(Self.unplugged))
        var last = Self.unplugged
        last.power = .charging
        last.shouldDefer = true
        try task.send(ConditionsMessage(last))
        #expect(try task.all() == [.done(DoneMessage(success: true, isDeaf: true))])
        #expect(
            try task.output() == """
                permitted: com.example.test com.example.export.*
                modes: fetch remote-notification
                at first: low 0, thermal 0, power 3, battery -1, refresh 2, defer 0, gpu 0, network 4
                longer 56 untold, shorter 0 55555555
                changed: low 1, thermal 2, power 1, battery 15, refresh 1, defer 0, gpu 1, network 2
                the same when asked: 1
                changed: low 1, thermal 2, power 2, battery 15, refresh 1, defer 1, gpu 1, network 2
                the same when asked: 1

                """)
    }

    @Test func `without a word of the host nothing is permitted and power is unknown`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("conditions")
        let task = try launcher.launch(template)
        try task.waitUntilReady()
        try task.waitForLog()
        var last = Self.mains
        last.shouldDefer = true
        try task.send(ConditionsMessage(last))
        _ = try task.all()
        #expect(
            try task.output().hasPrefix(
                "permitted:\nmodes:\nat first: low 0, thermal 0, power 0, battery -1, refresh 2, defer 0, gpu 0, network 0\n"
            ))
    }

    @Test func `log names, advice, titles and faults arrive in order and cut to their bounds`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("speaks")
        try task.waitUntilReady()
        let words = try (0..<7).map { _ in try task.next() }
        #expect(
            words == [
                .log(
                    LogMessage(level: 5, message: "with names", subsystem: "com.example", category: "export")),
                .log(LogMessage(level: 1, message: "without")),
                .advice(AdviceMessage(code: "aCode", message: "a sentence")),
                .advice(
                    AdviceMessage(
                        code: String(repeating: "x", count: 128), message: String(repeating: "x", count: 1024)
                    )),
                .title(TitleMessage(title: "Exporting", subtitle: "7 of 12")),
                .title(TitleMessage(title: "Alone", subtitle: "")),
                .fault(FaultMessage(code: "0x8badf00d", message: "not this time")),
            ])
        guard case .submit(let submit) = try task.next() else { throw HarnessError("no submit") }
        #expect(submit.title == "Next" && submit.subtitle == "of many")
        #expect(submit.failsUnlessImmediate && submit.requiresGPU && submit.deadline == 1_700_000_360_000)
        #expect(submit.taskKind == TaskKind.continuedProcessing.wireValue)
        try task.send(ReplyMessage(call: submit.call, error: 0))
        guard case .pending(let pending) = try task.next() else { throw HarnessError("no pending") }
        var reply = ReplyMessage(call: pending.call, error: 0)
        reply.pending = [
            .init(
                request: 1, taskKind: .continuedProcessing, identifier: "com.example.a", earliest: nil,
                externalPower: false, network: false, title: "Export", subtitle: "all"),
            .init(
                request: 2, taskKind: .processing, identifier: "com.example.b", earliest: nil,
                externalPower: false, network: false),
        ]
        try task.send(reply)
        #expect(try task.all() == [.done(DoneMessage(success: true, isDeaf: true))])
        #expect(try task.output() == "pending com.example.a “Export” “all”\npending com.example.b “” “”\n")
    }
}
