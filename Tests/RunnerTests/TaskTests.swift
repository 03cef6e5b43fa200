import Foundation
import Glibc
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// Single launches of C plugins in a real launcher.
@Suite(.system, .serialized) struct TaskTests {
    @Test(arguments: Mode.all)
    func `a handler gets its facts, and what it says arrives in order`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("work", mode.isolation, fresh: mode.fresh)
        var reports = try task.all()
        #expect(
            try task.output()
                == "com.example.test of com.example, attempt 2, payload {\"a\":1}, checkpoint before\n")
        #expect(try task.errors() == "to stderr\n")
        guard case .ready(let ready) = reports.removeFirst() else { throw HarnessError("not ready first") }
        #expect(ready.protocolVersion == 1 && ready.abiVersion == 1 && ready.cloneToReady > 0)
        let progress = reports.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
        #expect(progress.first?.message == "counting")
        #expect(progress.last?.completed == 100_000)
        #expect(progress.count < 1000, "100,000 calls must be coalesced; \(progress.count) frames came")
        let others = reports.filter { if case .progress = $0 { false } else { true } }
        #expect(
            others == [
                .log(LogMessage(level: 4, message: "not UTF-8: ?")),
                .checkpoint(CheckpointMessage(bytes: Array("saved".utf8))),
                .done(DoneMessage(success: true, message: "all done", isDeaf: true)),
            ])
        #expect(reports.last == .done(DoneMessage(success: true, message: "all done", isDeaf: true)))
        let exited = try launcher.exited()
        #expect(exited.launch == task.launch && exited.waitStatus == 0 && exited.leftovers == 0)
        #expect(exited.maximumResident > 0)
    }

    @Test(arguments: Mode.all)
    func `an expiration reaches the handler and the descriptor`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("expires", mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        try task.waitForLog()
        try task.send(TaskExpireMessage(reason: "userReturned", grace: 5000, deadline: .max))
        #expect(try task.all() == [.done(DoneMessage(success: false, message: "userReturned"))])
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test func `an expiration that finds no handler ends the task at once`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("deaf")
        try task.waitUntilReady()
        try task.waitForLog()
        try task.send(TaskExpireMessage(reason: "leaseEnded", grace: 5000, deadline: .max))
        #expect(try task.all() == [.done(DoneMessage(success: false, isUnstarted: true, isDeaf: true))])
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test(arguments: Mode.all)
    func `a crash of the handler is reported with its signal`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("aborts", mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        // The task waits for the host, which gets the stacks of its threads.
        guard case .crash(let crash) = try task.next() else { throw HarnessError("no crash") }
        #expect(crash.signal == UInt64(SIGABRT) && crash.address == nil && crash.addresses.count > 3)
        try task.send(SampleMessage(thread: SampleMessage.allThreads))
        // There are two threads: the one that crashed, and the control thread, which sends no stack.
        #expect(try task.all() == [])
        #expect(try launcher.exited().waitStatus & 0x7F == UInt64(SIGABRT))
    }

    @Test func `a handler that returns without completing sends its last progress and no done`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("silent")
        try task.waitUntilReady()
        #expect(try task.all().last == .progress(TaskProgressMessage(completed: 2, total: 4)))
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test func `a progress message that is too long is cut at the boundary of a character`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("long_progress")
        try task.waitUntilReady()
        let message = String(repeating: "x", count: 1022)
        #expect(try task.all() == [.progress(TaskProgressMessage(completed: 1, total: 2, message: message))])
    }

    @Test func `a submission waits for its reply, and pending requests are listed`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("submits")
        try task.waitUntilReady()
        guard case .submit(let submit) = try task.next() else { throw HarnessError("no submit") }
        #expect(submit.identifier == "com.example.next")
        try task.send(ReplyMessage(call: submit.call, error: 3, text: "it is not in the manifest"))
        guard case .pending(let pending) = try task.next() else { throw HarnessError("no pending") }
        var reply = ReplyMessage(call: pending.call, error: 0)
        reply.pending = [
            .init(
                request: 17, taskKind: .processing, identifier: "com.example.a", earliest: nil,
                externalPower: false, network: false)
        ]
        try task.send(reply)
        #expect(try task.all() == [.done(DoneMessage(success: true, isDeaf: true))])
        #expect(
            try task.output()
                == "submit 3: it is not in the manifest\npending 17 com.example.a\npending 0\n")
    }

    @Test func `an assertion keeps the process after completion, until it is ended`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("asserts")
        try task.waitUntilReady()
        guard case .beginAssertion(let begun) = try task.next() else { throw HarnessError("no assertion") }
        #expect(begun.assertion == 1 && begun.name == "flush" && begun.addresses.count > 1)
        #expect(
            try task.all() == [
                .done(DoneMessage(success: true, isDeaf: true)),
                .endAssertion(EndAssertionMessage(assertion: 1)),
            ])
        #expect(try task.output() == "flushed\n")
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test(arguments: Mode.all)
    func `a task has five descriptors of the host's and no socket`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("descriptors", mode.isolation, fresh: mode.fresh)
        // Descriptor 5 is the eventfd with which the runner wakes its control thread.
        #expect(try task.output() == "0 device\n1 pipe\n2 pipe\n3 pipe\n4 pipe\n5 other\n")
    }

    @Test func `with debug the task stops between ready and the handler`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("work")
        let task = try launcher.launch(template) { $0.debug = true }
        try task.waitUntilReady()
        while try !String(contentsOfFile: "/proc/\(task.pid)/stat", encoding: .utf8).contains(") T ") {
            sched_yield()
        }
        kill(task.pid, SIGCONT)
        #expect(try task.all().last == .done(DoneMessage(success: true, message: "all done", isDeaf: true)))
    }

    @Test func `a broken frame ends the task with status 70`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("deaf")
        try task.waitUntilReady()
        try task.sendBytes([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try launcher.exited().waitStatus == 70 << 8)
    }

    @Test(arguments: ["expires", "deaf", "stubborn"])
    func `a task whose host hangs up ends by itself`(fixture: String) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run(fixture)
        try task.waitUntilReady()
        try task.waitForLog()
        task.hangUp()
        let reports = try task.all()
        if fixture == "expires" {
            #expect(reports == [.done(DoneMessage(success: false, message: "hostGone"))])
        }
        #expect(try launcher.exited().waitStatus & 0x7F == 0)
    }
}
