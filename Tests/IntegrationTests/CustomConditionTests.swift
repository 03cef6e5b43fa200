import Foundation
import TaskHostTestSupport
import Testing

/// Custom conditions in a real host, with a real program and a real file.
@Suite(.system) struct CustomConditionHostTests {
    static let manifest = EndToEndTests.manifest.replacingOccurrences(
        of: "identifier: com.example.counting.count\n    kind: processing",
        with: "identifier: com.example.counting.count\n    kind: processing\n"
            + "    requiresConditions: [docked, lid-closed]")
    static let identifier = "com.example.counting.count"

    @Test func `a task waits for its program and its file, and stops when one of them says no`() throws {
        let host = try HostProcess()
        host.conditions = "system"
        let conditions = host.directory.appendingPathComponent("conditions.d")
        try FileManager.default.createDirectory(at: conditions, withIntermediateDirectories: true)
        let (dock, lid) = (host.directory.path + "/dock", host.directory.path + "/lid")
        func define(_ name: String, _ rest: String) throws {
            let text = "apiVersion: bgtask/v1\ncondition: \(name)\n\(rest)\n"
            try text.write(
                to: conditions.appendingPathComponent("\(name).yaml"), atomically: true, encoding: .utf8)
        }
        let source = EndToEndTests.counting.replacingOccurrences(
            of: "long position = 0;", with: "long position = 0; host->expiration_descriptor(task);")
        try host.install(source, library: "libcounting.so", manifest: Self.manifest, named: "counting")
        try host.start()
        host.run(
            "conditions", "set", "power=external", "network=unmetered", "thermal=nominal", "user=idle",
            "pressure=none", "lowPower=off")
        #expect(host.run("plugins").output.contains("no file in conditions.d defines 'docked'"))
        host.run("submit", Self.identifier, "--payload", #"{"mode":"wait"}"#)
        func observed() -> String { host.run("explain", Self.identifier).output }
        #expect(observed().contains("docked=undefined lid-closed=undefined"), "\(observed())")

        // The definitions are added while the host runs; the file that one of them watches does not exist
        // yet.
        try define(
            "docked",
            "source: {command: [/usr/bin/test, -e, \(dock)], interval: 1s}\npredicate: {equals: 0}")
        try define("lid-closed", "source: {file: \(lid)}\npredicate: {equals: closed}")
        try host.wait("both are defined") { observed().contains("docked=off lid-closed=unknown") }
        #expect(host.run("logs").output.contains("condition lid-closed is unknown"))
        try Data().write(to: URL(fileURLWithPath: dock))
        try "closed\n".write(toFile: lid, atomically: true, encoding: .utf8)
        func newest() throws -> [String: Any]? { try host.launches().first }
        try host.wait("it runs") { try newest()?["state"] as? String == "running" }
        let rows = host.run("conditions").output.split(separator: "\n").map(String.init)
        #expect(rows.contains { $0.hasPrefix("docked") && $0.contains("on") && $0.contains("/usr/bin/test") })
        #expect(rows.contains { $0.hasPrefix("lid-closed") && $0.contains(lid) }, "\(rows)")

        try "open\n".write(toFile: lid, atomically: true, encoding: .utf8)
        try host.wait("the opened lid ends it") { try newest()?["state"] as? String == "ended" }
        #expect(try newest()?["reason"] as? String == "conditionLost")
        #expect(try newest()?["outcome"] as? String == "expired")
        #expect(observed().contains("docked=on lid-closed=off"), "\(observed())")

        // Simulated values replace the real ones, one by one.
        host.run("conditions", "set", "lid-closed=on")
        try host.wait("it goes on") { try newest()?["attempt"] as? Int == 2 }
        try FileManager.default.removeItem(atPath: dock)
        try host.wait("the dock ends it") { try newest()?["state"] as? String == "ended" }
        #expect(try newest()?["reason"] as? String == "conditionLost")

        // Removing a definition removes the condition, and the tasks that require it wait.
        try FileManager.default.removeItem(at: conditions.appendingPathComponent("docked.yaml"))
        try host.wait("it is defined no more") { observed().contains("docked=undefined lid-closed=on") }
        #expect(!host.run("conditions").output.contains("docked"))
        #expect(host.run("conditions", "set", "docked=on").status != 0)
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }
}
