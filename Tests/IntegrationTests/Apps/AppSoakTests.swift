import ControlClient
import ControlWire
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// A Swift plugin that uses tasks and actors, launched a thousand times in a row.
@Suite(.alone) struct AppSoakTests {
    /// The host's resources that could leak: descriptors of host and launcher, directories, processes; -1 if
    /// unknown.
    private func traces(of host: HostProcess) -> [String: Int] {
        func count(_ path: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? -1
        }
        let launcher = host.leftovers().first { $0.contains("bgtask-runner launcher") }
        let number = launcher?.split(separator: " ").first.map(String.init) ?? "none"
        return [
            "descriptors of the host": count("/proc/\(host.processIdentifier)/fd"),
            "descriptors of the launcher": count("/proc/\(number)/fd"),
            "temporary directories": count(host.state.appendingPathComponent("tmp").path),
            "processes": host.leftovers().count,
        ]
    }

    @Test func `a thousand launches in a row all succeed and leave nothing behind`() async throws {
        let app = try AppHost("FeaturesApp", tasks: ["all": "processing", "one": "processing"])
        let client = ControlClient(socketPath: app.host.socket.path)
        let identifier = try TaskIdentifier("org.example.features.one")
        var events = try await client.events().makeAsyncIterator()
        var failures: [String] = []
        func launchOnce() async throws -> Outcome? {
            let id = try await client.simulateLaunch(identifier).launch.launch
            while let event = try await events.next() {
                guard case .launchEnded(let launch, _) = event, launch.launch == id else { continue }
                if launch.outcome != .succeeded { failures.append("\(launch) \(app.lines(of: "\(id)"))") }
                return launch.outcome
            }
            return nil
        }
        for _ in 0..<20 { _ = try await launchOnce() }
        let before = traces(of: app.host)
        var outcomes: [Outcome?: Int] = [:]
        for _ in 0..<1000 { outcomes[try await launchOnce(), default: 0] += 1 }
        #expect(outcomes == [.succeeded: 1000], "\(failures)")
        let after = traces(of: app.host)
        #expect(before.values.allSatisfy { $0 >= 0 }, "each of them was found: \(before)")
        for (what, count) in before {
            // A few connections may be closing at the moment; a leak would amount to a thousand.
            #expect(
                abs((after[what] ?? 0) - count) <= 4, "\(what): \(count) before, \(after[what] ?? 0) after")
        }
        #expect(app.host.stop() == 0)
        #expect(app.host.leftovers() == [])
    }
}
