import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

@testable import Launching

/// A launch with very many processes must not delay the measurements of others.
@Suite(.system) struct LaunchSurveyTests {
    @Test func `a survey gives up when there are more processes than few`() throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait"]
        try shell.run()
        defer {
            for process in ProcessUsage.processes(below: shell.processIdentifier) { kill(process, SIGKILL) }
            shell.waitUntilExit()
        }
        while ProcessUsage.processes(below: shell.processIdentifier).count < 9 { usleep(1000) }
        let survey = LaunchSurvey(group: nil, process: shell.processIdentifier, mayGrow: true)
        var aims = LaunchSurvey.Aims(measuresMemory: true)
        #expect(survey.look(aims, few: 8) == nil)
        let finding = try #require(survey.look(aims, few: 9))
        #expect(finding.processes == 9)
        #expect((finding.memory ?? 0) > 0)
        // For too many threads it is killed, so its memory is not measured.
        aims.mostThreads = 5
        let tooMany = try #require(survey.look(aims, few: 8))
        #expect(tooMany.threads > 5)
        #expect(tooMany.memory == nil)
    }
}
