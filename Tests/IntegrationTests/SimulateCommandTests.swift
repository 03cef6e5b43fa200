import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask simulate` with manifests of one's own, as a person runs it.
@Suite(.system) struct SimulateCommandTests {
    /// A directory for manifests, which disappears with the test.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "bgtask-\(UUID().uuidString)")
        deinit { try? FileManager.default.removeItem(at: url) }

        /// Writes bundles that refresh every hour, each with one line more in its task; returns the path.
        func bundles(_ name: String, count: Int = 3, _ line: String = "") throws -> String {
            let directory = url.appending(path: name)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for number in 0..<count {
                let text = """
                    apiVersion: bgtask/v1
                    bundle: com.example.b\(number)
                    library: libb\(number).so
                    modes: [fetch]
                    tasks:
                      - identifier: com.example.b\(number).refresh
                        kind: appRefresh
                        schedule: {every: 1h, tolerance: 30m}
                        \(line)
                    """
                try text.write(
                    to: directory.appending(path: "b\(number).yaml"), atomically: true, encoding: .utf8)
            }
            return directory.path
        }
    }

    private struct Run: Decodable {
        var name: String
        var launches: Int
        var wakeUps: Int
        var leastWakeUps: Int
    }

    private struct Runs: Decodable { var runs: [Run] }

    /// Runs the command; its output contains its errors.
    private static func simulate(_ arguments: String...) -> Command.Answer {
        Command.run([HostProcess.products.appending(path: "bgtask").path, "simulate"] + arguments)
    }

    private static func runs(_ arguments: String...) throws -> [Run] {
        let answer = Command.run(
            [HostProcess.products.appending(path: "bgtask").path, "simulate"] + arguments + ["--json"])
        #expect(answer.status == 0, "\(answer)")
        return try JSONDecoder().decode(Runs.self, from: Data(answer.output.utf8)).runs
    }

    @Test(arguments: ["when: hour >= 0", "when: hour >= 6 or hour < 6", "when: not (hour < 0)"])
    func `a clause on the clock that is always true changes nothing`(line: String) throws {
        let folder = Folder()
        let (plain, clocked) = (try folder.bundles("plain"), try folder.bundles("clocked", line))
        let runs = try Self.runs(
            "kiosk", "--days", "3", "--seed", "5", "--before", plain, "--manifests", clocked, "--compare")
        #expect(runs.map(\.name) == ["before", "tried"])
        #expect(runs[0].launches == runs[1].launches && runs[0].launches > 150)
        #expect(runs[0].wakeUps == runs[1].wakeUps)
        #expect(runs[0].leastWakeUps == runs[1].leastWakeUps)
    }

    /// At night, a kiosk has no events but those of the launches themselves.
    @Test func `the lower bound counts launches whose own events are the only other ones`() throws {
        let folder = Folder()
        let one = try folder.bundles("one", count: 1)
        let runs = try Self.runs("kiosk", "--days", "3", "--seed", "5", "--manifests", one)
        #expect(runs[0].leastWakeUps >= 24, "\(runs)")
        #expect(runs[0].leastWakeUps <= runs[0].wakeUps)
    }

    @Test func `a change of the manifests is compared with what was before`() throws {
        let folder = Folder()
        let (old, new) = (try folder.bundles("old"), try folder.bundles("new", "network: any"))
        let table = Self.simulate(
            "kiosk", "--days", "1", "--seed", "5", "--before", old, "--manifests", new, "--compare")
        #expect(table.status == 0, "\(table)")
        let lines = table.output.split(separator: "\n")
        #expect(lines.first == "1 device, 1 day, seed 5")
        #expect(lines.dropFirst().first?.split(separator: " ") == ["before", "tried", "difference"])
        #expect(table.output.contains("com.example.b0.refresh: launches"))

        let same = try Self.runs(
            "laptop", "--days", "2", "--seed", "3", "--before", old, "--manifests", old, "--compare")
        #expect(same[0].launches == same[1].launches && same[0].wakeUps == same[1].wakeUps)
    }

    @Test func `several devices are compared, too`() throws {
        let folder = Folder()
        let (old, new) = (try folder.bundles("old"), try folder.bundles("new", "when: externalPower"))
        let runs = try Self.runs(
            "laptop", "phone", "--devices", "4", "--days", "1", "--seed", "5", "--before", old,
            "--manifests", new, "--compare")
        #expect(runs.map(\.name) == ["before", "tried"])
        #expect(runs[0].launches > runs[1].launches)
    }

    @Test func `what can't be compared is refused with what to do`() throws {
        let folder = Folder()
        let old = try folder.bundles("old")
        let alone = Self.simulate("kiosk", "--before", old)
        #expect(alone.status == 2 && alone.output.contains("--before is for --compare with --manifests"))
        let nothing = Self.simulate("kiosk", "--manifests", old, "--compare")
        #expect(nothing.status == 2 && nothing.output.contains("Nothing to compare"), "\(nothing)")
        let missing = Self.simulate(
            "kiosk", "--before", "/nonexistent", "--manifests", old, "--compare")
        #expect(missing.status == 1 && missing.output.contains("/nonexistent"), "\(missing)")
        let wrong = try folder.bundles("wrong", "when: hoor >= 0")
        let unread = Self.simulate("kiosk", "--before", old, "--manifests", wrong, "--compare")
        #expect(unread.status == 1 && unread.output.contains("there is no fact 'hoor'"), "\(unread)")
    }
}
