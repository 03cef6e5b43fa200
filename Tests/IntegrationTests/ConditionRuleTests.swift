import Foundation
import TaskHostTestSupport
import Testing

/// Rules about conditions, seen with the whole host and `bgtask conditions set`.
@Suite(.system) struct ConditionRuleTests {
    private static let task = "com.example.counting.count"

    private func host(_ environment: [String: String] = [:]) throws -> HostProcess {
        let host = try HostProcess()
        host.environment.merge(environment) { $1 }
        try EndToEndTests.install(in: host)
        try host.start()
        return host
    }

    @Test(arguments: [["--network"], ["--network", "unmetered"]])
    func `a network that becomes metered ends processing that needs an unmetered one`(options: [String])
        throws
    {
        let host = try host()
        #expect(host.run(["submit", Self.task, "--payload", #"{"mode":"wait"}"#] + options).status == 0)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        host.run("conditions", "set", "network=metered")
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "networkMetered")
        let why = host.run("explain", Self.task).output
        #expect(why.contains("The network is metered; it must be connected and unmetered"), "\(why)")
        host.run("conditions", "set", "network=unmetered")
        try host.wait("it goes on") { try host.launches().first?["attempt"] as? Int == 2 }
        #expect(host.stop() == 0)
    }

    @Test func `processing that takes any network goes on when it becomes metered`() throws {
        let host = try host()
        host.run("submit", Self.task, "--network", "any", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        host.run("conditions", "set", "network=metered")
        // The host answers this only after it has applied the new condition.
        #expect(host.run("conditions").output.contains("metered"))
        #expect(try host.launches().first?["state"] as? String == "running")
        #expect(host.stop() == 0)
    }

    @Test func `under pressure that does not end, one launch starts after the limit, at idle priority`()
        throws
    {
        let host = try host(["BGTASK_SCHEDULING_PRESSURE_LIMIT": "3s"])
        host.run("conditions", "set", "pressure=cpu")
        host.run("submit", Self.task, "--payload", #"{"mode":"wait"}"#)
        let why = host.run("explain", Self.task).output
        #expect(why.contains("The machine is under pressure (cpu)") || why.contains("running"), "\(why)")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        let start = host.run("explain", "--launch", "L1").output
        #expect(start.contains("The machine is under pressure (cpu)"), "\(start)")
        host.run("conditions", "set", "pressure=cpu,memory")
        try host.wait("memory pressure ends it") {
            try host.launches().first?["state"] as? String == "ended"
        }
        #expect(try host.launches().first?["reason"] as? String == "pressure")
        #expect(host.stop() == 0)
    }

    @Test func `a score that is too low names the charger, and the charger starts the request`() throws {
        let host = try host(["BGTASK_SCHEDULING_SCORE_THRESHOLD": "0.8"])
        host.run("conditions", "set", "power=battery:40%")
        host.run("submit", Self.task, "--payload", #"{"mode":"wait"}"#)
        let why = host.run("explain", Self.task).output
        #expect(why.contains("Plug in the charger: 0."), "\(why)")
        #expect(why.contains(" would become 0."), "\(why)")
        host.run("conditions", "set", "power=external")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.stop() == 0)
    }
}
