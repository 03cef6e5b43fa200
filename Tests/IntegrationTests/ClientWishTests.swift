import Foundation
import TaskHostTestSupport
import Testing

/// What a client or an administrator says, seen with the whole host and `bgtask`.
@Suite(.system) struct ClientWishTests {
    private static let task = "com.example.counting.count"
    private static let bundle = "com.example.counting"

    private func host() throws -> HostProcess {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_LAUNCH_SPACING"] = "0s"
        try EndToEndTests.install(in: host)
        try host.start()
        return host
    }

    @Test func `a request that can't start by its deadline fails, and waiting for it says so`() throws {
        let host = try host()
        host.run("conditions", "set", "power=battery:15%")
        let answer = host.run(["submit", Self.task, "--deadline", "1s", "--wait"])
        #expect(answer.status == 1)
        #expect(answer.output.contains("R1 failed (deadlinePassed)"), "\(answer)")
        #expect(host.run("pending").output.contains("Nothing is pending"))
        #expect(host.stop() == 0)
    }

    @Test func `keep, append and replace say what they did`() throws {
        let host = try host()
        host.run("conditions", "set", "power=battery:15%")
        #expect(host.run("submit", Self.task, "--tag", "one").output.contains("R1 \(Self.task) is pending"))
        #expect(
            host.run("submit", Self.task, "--if-pending", "keep").output.contains(
                "R1 \(Self.task) is pending already"))
        let next = host.run("submit", Self.task, "--if-pending", "append", "--tag", "two").output
        #expect(next.contains("R2 \(Self.task) waits until R1 has ended"), "\(next)")
        let third = host.run("submit", Self.task, "--if-pending", "append")
        #expect(third.status == 4)
        #expect(third.errors.contains("R2 waits already"), "\(third)")
        #expect(host.run("submit", Self.task).output.contains("it replaces R1"))
        #expect(
            host.run("pending", "--tag", "two").output.contains("Waits until R3 of the same task has ended"))
        #expect(host.run("cancel", "R3").output.contains("R3 is cancelled"))
        host.run("conditions", "set", "power=external")
        try host.wait("the appended one has run") {
            try host.launches().first?["request"] as? String == "R2"
        }
        #expect(host.run("launches", "--tag", "two").output.contains("L1"))
        #expect(host.run("launches", "--tag", "one").output.contains("remembers no such launch"))
        #expect(host.stop() == 0)
    }

    @Test func `a pause stops a bundle, survives a restart, and ends with resume`() throws {
        let host = try host()
        host.run("submit", Self.task, "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        #expect(host.run("pause", Self.bundle, "--for", "1h").output.contains("is paused until"))
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "paused")
        #expect(host.stop() == 0)
        try host.start()
        let why = host.run("explain", Self.task).output
        #expect(why.contains("The bundle \(Self.bundle) is paused until"), "\(why)")
        #expect(host.run("pause").output.contains("All bundles are paused"))
        #expect(host.run("resume", Self.bundle).output.contains("all bundles are paused"))
        #expect(host.run("resume").output.contains("Launches can start again"))
        #expect(host.run("resume").output.contains("Neither 'bgtask pause'"))
        try host.wait("it goes on") { try host.launches().first?["attempt"] as? Int == 2 }
        #expect(host.stop() == 0)
    }
}
