import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// The keys `storage`, `battery`, `between`, `conflicts` and `when` of a task.
@Suite struct ConstraintReaderTests {
    static func text(_ keys: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [processing]
        tasks:
          - identifier: com.example.a.sync
            kind: processing
            payload: {urgent: boolean}
            \(keys)
            call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}
          - identifier: com.example.a.scrub
            kind: processing
            call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}
        """
    }

    private func read(_ keys: String) throws -> (problems: [String], manifest: Manifest?) {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/manifests", withIntermediateDirectories: true)
        try folder.write("manifests/a.yaml", Self.text(keys))
        let file = folder.path + "/manifests/a.yaml"
        let problems = ManifestLinter.lint(files: [file], pluginsDirectory: nil).map {
            "\($0)".replacingOccurrences(of: file + ":", with: "")
        }
        return (problems, ManifestLinter.manifest(in: file))
    }

    @Test func `right values are read`() throws {
        let (problems, manifest) = try read(
            "storage: 2GiB\n    battery: 40%\n    between: [22:00, 6:30]\n"
                + "    conflicts: [com.example.a.scrub, com.example.b.*]\n"
                + "    when: battery >= 40 and (network == unmetered or payload.urgent)")
        // A task of another bundle is permitted, but its author may not know of the conflict.
        #expect(problems.count == 1)
        #expect(
            problems.first?.contains(
                "warning: conflicts: 'com.example.b.*' can be a task of another bundle, which then waits while "
                    + "'com.example.a.sync' runs") == true)
        let constraints = try #require(manifest?.tasks.first?.constraints)
        #expect(constraints.storage == .gibibytes(2))
        #expect(constraints.battery == 40)
        #expect(constraints.between == DailyWindow(start: 1320, end: 390))
        #expect(constraints.conflicts.map(\.description) == ["com.example.a.scrub", "com.example.b.*"])
        #expect(constraints.when?.text == "battery >= 40 and (network == unmetered or payload.urgent)")
        #expect(manifest?.tasks.last?.constraints == nil)
        // A recording contains the manifest, and one from before these keys existed does not have them.
        let encoded = try JSONEncoder().encode(manifest)
        #expect(try JSONDecoder().decode(Manifest.self, from: encoded) == manifest)
        #expect(String(decoding: encoded, as: UTF8.self).components(separatedBy: "constraints").count == 2)
    }

    @Test(
        arguments: [
            ("storage: 2GB", "8:14: error: storage: not a valid size: '2GB'. Use 2GiB"),
            (
                "storage: 2GiB free",
                "8:14: error: storage '2GiB free' contains the word 'free'. Write only the size: storage: 2GiB"
            ),
            (
                "battery: 40",
                "8:14: error: battery must be a percentage from 1% to 100%, found 40. Write it with its sign: battery: 40%"
            ),
            (
                "battery: 140%",
                "8:14: error: battery must be a percentage from 1% to 100%, found '140%'. Use 1% to 100%"
            ),
            (
                "when: hour >= 22 and hour < 6",
                "8:11: warning: when: no hour of the week makes the expression true, so the task never starts. Write 'or' between times that exclude each other: hour >= 22 or hour < 6"
            ),
            (
                "when: weekday == Sat and weekday == Sun",
                "8:11: warning: when: no hour of the week makes the expression true, so the task never starts. Write 'or' between times that exclude each other: hour >= 22 or hour < 6"
            ),
            (
                "when: idle and not idle",
                "8:24: warning: when: 'idle and not idle' can never be true. Correct it, because the task never starts"
            ),
            (
                "when: \"charging or (battery > 80 and battery < 40)\"",
                "8:42: warning: when: 'battery > 80 and battery < 40' can never be true. Correct or remove this part"
            ),
            (
                "between: [22:00]",
                "8:14: error: between has 1 time instead of 2. Write the beginning and the end: between: [22:00, 06:00]"
            ),
            (
                "between: [22:00, 24:00]",
                "8:22: error: between: not a time of day: '24:00'. Write 00:00 for midnight"
            ),
            (
                "between: [22:00, 22:00]",
                "8:14: error: between begins and ends at the same time. Remove it for the whole day"
            ),
            (
                "conflicts: [com.example.a.sync]",
                "8:17: error: the task conflicts with itself. Remove the identifier; a task never runs twice at the same time"
            ),
            (
                "conflicts: [com.example.a.scrup]",
                "8:17: warning: conflicts: this manifest has no task 'com.example.a.scrup'. Did you mean 'com.example.a.scrub'?"
            ),
            ("when: batery >= 40", "8:11: error: when: there is no fact 'batery'. Did you mean 'battery'?"),
            (
                "when: \"idle and batery >= 40\"",
                "8:21: error: when: there is no fact 'batery'. Did you mean 'battery'?"
            ),
            (
                "when: network == meterd",
                "8:22: error: when: 'meterd' is not a value of 'network'. Did you mean 'metered'?"
            ),
            (
                "when: payload.urgnt",
                "8:11: error: when: the task declares no payload key 'urgnt'. Did you mean 'payload.urgent'?"
            ),
            (
                "when: condition.docked",
                "8:11: warning: no file in conditions.d defines 'docked', so com.example.a.sync waits. Add a file there that begins with 'apiVersion: bgtask/v1' and 'condition: docked'"
            ),
        ] as [(String, String)])
    func `a mistake is found at its position`(keys: String, problem: String) throws {
        #expect(try read(keys).problems == [problem])
    }

    /// The problems of a task with these keys that has no payload, so that it can have a schedule.
    private func problems(_ keys: String, kind: String = "processing") throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(
            "a.yaml",
            Self.text(keys).replacingOccurrences(
                of: "payload: {urgent: boolean}", with: "requiresExternalPower: true"
            )
            .replacingOccurrences(of: "modes: [processing]", with: "modes: [processing, fetch]")
            .replacingOccurrences(of: "a.sync\n    kind: processing", with: "a.sync\n    kind: \(kind)"))
        return ManifestLinter.lint(files: [folder.path + "/a.yaml"], pluginsDirectory: nil).map(\.finding)
    }

    @Test(
        arguments: [
            (
                "requiresExternalPower: true\n    when: not externalPower", "appRefresh",
                "when: 'not externalPower' can't be true together with 'requiresExternalPower' in line 8"
            ),
            (
                "between: [\"10:00\", \"12:00\"]\n    when: hour < 6", "appRefresh",
                "when: 'hour < 6' can't be true together with 'between' in line 8"
            ),
            (
                "between: [\"10:00\", \"12:00\"]\n    when: hour < 6 or not idle", "processing",
                "when: 'hour < 6 or not idle' can't be true together with the rule that processing needs an "
                    + "idle device in line 6 and 'between' in line 8"
            ),
            (
                "requiresNetworkConnectivity: true\n    when: network == none", "appRefresh",
                "when: 'network == none' can't be true together with 'requiresNetworkConnectivity' in line 8"
            ),
            (
                "when: lowPower", "appRefresh",
                "when: 'lowPower' can't be true together with the rule that deferrable tasks do not start in "
                    + "low-power mode in line 6"
            ),
            (
                "when: battery < 15 and not externalPower", "appRefresh",
                "when: 'battery < 15 and not externalPower' can't be true together with the rule that "
                    + "deferrable tasks do not start below a charge of 20 % without external power in line 6"
            ),
            (
                "requiresNetworkConnectivity: true\n    when: network == constrained", "appRefresh",
                "when: 'network == constrained' can't be true together with the rule that deferrable tasks do "
                    + "not start in low-data mode if they need the network in line 6"
            ),
            (
                "when: thermal == critical", "continuedProcessing",
                "when: 'thermal == critical' can't be true together with the rule that no task starts on a "
                    + "machine that is too hot in line 6"
            ),
            ("when: network == constrained", "appRefresh", nil),
            ("when: battery < 15", "appRefresh", nil),
            ("battery: 60%\n    when: battery < 40 or charging", "appRefresh", nil),
            (
                "battery: 60%\n    when: battery < 40 and not externalPower", "appRefresh",
                "when: 'battery < 40 and not externalPower' can't be true together with 'battery' in line 8"
            ),
            (
                "requiresExternalPower: true\n    when: not charging", "appRefresh", nil
            ),
            ("between: [\"05:30\", \"12:00\"]\n    when: hour < 6", "appRefresh", nil),
            ("when: not idle", "appRefresh", nil),
            ("when: lowPower", "continuedProcessing", nil),
        ] as [(String, String, String?)])
    func `lint names what contradicts an expression`(keys: String, kind: String, finding: String?) throws {
        let folder = try TemporaryFolder()
        let text = Self.text(keys)
            .replacingOccurrences(of: "modes: [processing]", with: "modes: [processing, fetch]")
            .replacingOccurrences(of: "a.sync\n    kind: processing", with: "a.sync\n    kind: \(kind)")
        // With a network, so that lint does not warn of a requirement without one.
        try folder.write("a.yaml", text + "\nsandbox: {network: true}\n")
        let problems = ManifestLinter.lint(files: [folder.path + "/a.yaml"], pluginsDirectory: nil)
        #expect(
            problems.map(\.finding) == [finding.map { $0 + ", so the task never starts" }].compactMap(\.self))
    }

    @Test func `dates outside the window are reported, unless the tolerance reaches it`() throws {
        let window = "between: [22:00, 06:00]\n    "
        #expect(
            try problems(window + "schedule: {at: \"12:00\"}") == [
                "between: all dates of 'at: 12:00' are outside 22:00 to 06:00, so each waits until 22:00"
            ])
        for schedule in ["{at: \"23:00\"}", "{at: \"*:30\"}", "{at: \"21:00\", tolerance: 2h}"] {
            #expect(try problems(window + "schedule: " + schedule) == [])
        }
    }

    @Test func `a jitter or tolerance beyond the period is reported`() throws {
        #expect(
            try problems("schedule: {at: hourly, jitter: 2h}") == [
                "the jitter of 2h is longer than the period of 1h"
            ])
        #expect(
            try problems("schedule: {at: daily, tolerance: 2d}") == [
                "the tolerance of 2d is longer than the period of 1d"
            ])
        #expect(try problems("schedule: {at: \"Mon..Fri 02:00\", tolerance: 2d, jitter: 2h}") == [])
    }

    @Test func `deviceActivity is reported where it has no effect`() throws {
        #expect(try problems("deviceActivity: ignore") == [])
        #expect(
            try problems("deviceActivity: ignore", kind: "appRefresh") == [
                "deviceActivity has no effect on kind appRefresh"
            ])
    }
}
