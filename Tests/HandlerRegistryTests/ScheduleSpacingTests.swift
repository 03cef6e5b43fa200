import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// A period that the host can't keep, because it starts no task so often.
@Suite struct ScheduleSpacingTests {
    @Test(
        arguments: [
            ("processing", "1s", "every: the task starts every 10s, not every 1s"),
            ("processing", "9s", "every: the task starts every 10s, not every 9s"),
            ("processing", "10s", nil),
            ("appRefresh", "1m", "every: the task starts every 15m, not every 1m"),
            ("appRefresh", "15m", nil),
        ])
    func `lint warns of a period below the spacing of launches`(
        kind: String, period: String, finding: String?
    ) throws {
        let folder = try TemporaryFolder()
        let text = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            modes: [processing, fetch]
            tasks:
              - identifier: com.example.a.sync
                kind: \(kind)
                schedule: {every: \(period)}
                call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}
            """
        try folder.write("a.yaml", text)
        let problems = ManifestLinter.lint(files: [folder.path + "/a.yaml"], pluginsDirectory: nil)
        #expect(problems.count == (finding == nil ? 0 : 1))
        if let finding { #expect(problems.first?.finding.hasPrefix(finding) == true, "\(problems)") }
        #expect(problems.allSatisfy { $0.severity == .warning && $0.line == 7 })
    }
}
