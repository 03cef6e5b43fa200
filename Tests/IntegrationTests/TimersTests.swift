import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask timers` with a real host.
@Suite(.system) struct TimersTests {
    @Test func `tasks with a schedule are listed by their next dates, with their last results`() throws {
        let host = try HostProcess()
        try """
        apiVersion: bgtask/v1
        bundle: com.example.timers
        modes: [processing]
        tasks:
          - {identifier: com.example.timers.late, kind: processing, schedule: {at: "*-*-* 23:59:59"}, command: {run: ["true"]}}
          - {identifier: com.example.timers.event, kind: processing, schedule: {onPower: true}, command: {run: ["true"]}}
          - {identifier: com.example.timers.failing, kind: processing, schedule: {at: "2099-01-01"}, command: {run: ["false"]}}
          - {identifier: com.example.timers.none, kind: processing, command: {run: ["true"]}}

        """.write(
            to: host.manifests.appendingPathComponent("timers.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        #expect(host.run("launch", "com.example.timers.failing", "--wait").status == 1)
        let rows = try #require(try host.json("timers") as? [[String: Any]])
        let names = rows.compactMap { ($0["identifier"] as? String)?.split(separator: ".").last }
        #expect(names == ["late", "failing", "event"])
        #expect(rows[1]["result"] as? String == "failed" && rows[1]["last"] is String)
        #expect(
            (rows[1]["next"] as? String)?.hasPrefix("2098-12-31") == true
                || (rows[1]["next"] as? String)?.hasPrefix("2099-01-01") == true)
        #expect(rows[2]["next"] is NSNull && rows[2]["schedule"] as? String == "on power")
        #expect(host.run("timers").output.contains("com.example.timers.late"))
        #expect(host.stop() == 0)
    }
}
