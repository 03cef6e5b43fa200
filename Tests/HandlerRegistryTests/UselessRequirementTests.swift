import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// Manifests that a host accepts, although their tasks never start or can't use what they wait for.
@Suite struct UselessRequirementTests {
    private func lint(_ task: String, sandbox: String = "") throws -> [ManifestProblem] {
        let folder = try TemporaryFolder()
        let text = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            modes: [processing, fetch]
            tasks:
              - identifier: com.example.a.sync
                kind: processing
                \(task)
                call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}
            \(sandbox)
            """
        try folder.write("a.yaml", text)
        // 2026-11-23T12:00:00Z
        let now = WallTime(sinceEpoch: .seconds(1_795_435_200))
        return ManifestLinter.lint(files: [folder.path + "/a.yaml"], pluginsDirectory: nil, now: now)
    }

    @Test(arguments: [
        ("2020-01-01 02:30", true), ("2026-11-22 02:30", true), ("2026-11-25 02:30", false),
        ("02:30", false), ("*-01-01 02:30", false), ("2024-*-* 02:30", true),
    ])
    func `lint warns of a schedule whose dates have all passed`(at: String, isPast: Bool) throws {
        let problems = try lint("schedule: {at: '\(at)', timeZone: UTC}")
        #expect(problems.count == (isPast ? 1 : 0), "\(problems)")
        if isPast {
            let finding = problems.first?.finding ?? ""
            #expect(finding == "at: '\(at)' has no date from now on, so the schedule never starts the task")
            #expect(problems.allSatisfy { $0.severity == .warning && $0.line == 7 })
        }
        let events = try lint("schedule: {at: '\(at)', timeZone: UTC, onBoot: true}")
        #expect(events.first?.finding.hasSuffix("only after its events") ?? !isPast, "\(events)")
    }

    @Test(arguments: [
        ("network: any", "", true), ("network: unmetered", "sandbox: {network: false}", true),
        ("requiresNetworkConnectivity: true", "sandbox: {read: [/srv]}", true),
        ("network: any", "sandbox: {network: true}", false),
        ("network: any", "sandbox: {network: {connect: [443]}}", false),
        ("requiresExternalPower: true", "sandbox: {network: false}", false),
    ])
    func `lint warns of a task that waits for a network and may use none`(
        task: String, sandbox: String, isUseless: Bool
    ) throws {
        let problems = try lint(task, sandbox: sandbox)
        #expect(problems.count == (isUseless ? 1 : 0), "\(problems)")
        #expect(
            problems.allSatisfy {
                $0.severity == .warning && $0.line == 7
                    && $0.finding == "the task waits for a network, and its sandbox does not let it use one"
            }, "\(problems)")
    }
}
