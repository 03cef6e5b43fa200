import Foundation
import TaskHostTestSupport
import Testing

/// The recording of a real host, replayed with `bgtask replay`.
@Suite(.system) struct RecordingEndToEndTests {
    @Test func `what a host did replays to its launches, and other rules show their difference`() throws {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try host.start()
        #expect(host.run("conditions", "set", "power=battery:50%").status == 0)
        #expect(host.run("submit", "com.example.counting.count", "--wait").status == 0)
        #expect(host.run("submit", "com.example.counting.refresh", "--wait").status == 0)
        let secret = #"{"text":"top secret"}"#
        #expect(
            host.run("submit", "com.example.counting.count", "--external-power", "--payload", secret).status
                == 0)
        let waiting = host.run("explain", "com.example.counting.count")
        #expect(
            waiting.output.contains("forecast: not within seven days if nothing changes (0 recorded days;"))
        // The kill and restart create a second segment; the last line of the first may be incomplete.
        host.kill()
        try host.wait("the launcher has gone") { host.leftovers().isEmpty }
        try host.start()
        #expect(host.run("conditions", "set", "power=external").status == 0)
        try host.wait("it runs") {
            try host.launches(of: "com.example.counting.count").first?["outcome"] as? String == "succeeded"
                && host.launches(of: "com.example.counting.count").count == 2
        }
        #expect(host.stop() == 0)

        let log = host.state.appending(path: "recording").path
        let replay = host.run("replay", log, "--launches", "--json")
        #expect(replay.status == 0, "\(replay)")
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(replay.output.utf8)) as? [String: Any])
        #expect((answer["differences"] as? [Any])?.isEmpty == true)
        #expect(answer["segments"] as? Int == 2)
        let launches = try #require(answer["launches"] as? [[String: Any]])
        #expect(launches.map { $0["launch"] as? String } == ["L1", "L2", "L3"])
        #expect(launches.allSatisfy { $0["outcome"] as? String == "succeeded" })
        for file in try FileManager.default.contentsOfDirectory(atPath: log) {
            #expect(try !String(contentsOfFile: "\(log)/\(file)", encoding: .utf8).contains("top secret"))
        }
        #expect(host.run("replay", log).output.contains("The launches are the same as those of the host."))

        // With a limit of 60 percent of battery, only the later launches would have started.
        let policy = host.state.appending(path: "policy.yaml")
        try "scheduling:\n  batteryStartPercent: 60\n".write(to: policy, atomically: true, encoding: .utf8)
        let compared = host.run("replay", log, "--policy", policy.path, "--compare", "--json")
        #expect(compared.status == 0, "\(compared)")
        let runs = try #require(
            (try JSONSerialization.jsonObject(with: Data(compared.output.utf8)) as? [String: Any])?["runs"]
                as? [[String: Any]])
        #expect(runs.map { $0["name"] as? String } == ["recorded", "tried"])
        let waits = runs.map { ($0["waitSeconds"] as? [String: Double])?["BatteryLevel"] ?? 0 }
        #expect(waits[0] == 0 && waits[1] > 0, "\(compared.output)")
        let svg = host.state.appending(path: "day.svg")
        #expect(host.run("replay", log, "--svg", svg.path, "--plot").output.contains("power"))
        #expect(try String(contentsOf: svg, encoding: .utf8).contains("com.example.counting.count"))

        // Behind a damaged line, launches follow the recording, so nothing is said about them.
        let names = try FileManager.default.contentsOfDirectory(atPath: log).filter {
            $0.hasPrefix("events-")
        }.sorted()
        let file = "\(log)/\(try #require(names.last))"
        var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        try #require(lines.count > 4)
        lines[2] = "damaged"
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let partial = host.run("replay", log)
        #expect(partial.status == 0 && partial.output.contains("The launches that could be compared are"))
    }

    @Test func `record and replay read the recording of the host at the socket`() throws {
        let host = try HostProcess()
        try host.start()
        try host.wait("the recording has begun") { host.run("record").output.contains("events-") }
        #expect(host.run("record").output.contains(host.state.path + "/recording"))
        #expect(!host.run("replay").errors.contains("No such file"))
        #expect(host.stop() == 0)
    }

    @Test func `what can't be replayed is told with what to do`() throws {
        let host = try HostProcess()
        let missing = host.run("replay", "/nonexistent/recording")
        #expect(missing.status == 1)
        #expect(missing.errors.contains("bgtask record"), "\(missing)")
        let policy = host.state.appending(path: "bad.yaml")
        try FileManager.default.createDirectory(at: host.state, withIntermediateDirectories: true)
        try "scheduling:\n  batteryStartPercnt: 60\n".write(to: policy, atomically: true, encoding: .utf8)
        let wrong = host.run("simulate", "kiosk", "--policy", policy.path)
        #expect(wrong.status == 1 && wrong.errors.contains("batteryStartPercent"), "\(wrong)")
        let one = host.run("simulate", "kiosk", "--days", "2", "--seed", "5", "--json")
        let two = host.run("simulate", "kiosk", "--days", "2", "--seed", "5", "--json")
        #expect(one.status == 0 && one.output == two.output && one.output.contains("\"seed\" : 5"))
    }
}
