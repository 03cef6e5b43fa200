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

    @Test func `a process that sleeps is measured every half minute, and at once when it has worked`() throws
    {
        guard case .success(let own) = ControlGroup.own(),
            let group = try? own.child("bgtask-test-\(UUID().uuidString)")
        else { return print("skipped: no cgroup v2 here") }
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", "x=a; read line; while [ ${#x} -lt 20000000 ]; do x=$x$x; done; echo grown; read line",
        ]
        let (input, output) = (Pipe(), Pipe())
        (shell.standardInput, shell.standardOutput) = (input, output)
        try shell.run()
        defer {
            kill(shell.processIdentifier, SIGKILL)
            shell.waitUntilExit()
            try? group.remove()
        }
        try SmallFile.write("\(shell.processIdentifier)", to: group.path + "/cgroup.procs")
        let survey = LaunchSurvey(group: group, process: shell.processIdentifier, mayGrow: false)
        let aims = LaunchSurvey.Aims(measuresMemory: true, mostThreads: 100)
        #expect(!survey.rests(aims))
        var resting: Int64?
        repeat {
            usleep(1000)
            resting = survey.look(aims, few: 9)?.memory
        } while !survey.rests(aims)
        // What it does not measure is not known of a launch that rests.
        #expect(!survey.rests(LaunchSurvey.Aims(measuresMemory: true, looksForStrays: true)))
        for _ in 1..<LaunchSurvey.mostRests { #expect(survey.rests(aims)) }
        #expect(!survey.rests(aims))
        #expect(survey.look(aims, few: 9)?.memory == resting)
        #expect(survey.rests(aims))
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        #expect(output.fileHandleForReading.availableData == Data("grown\n".utf8))
        #expect(!survey.rests(aims))
        #expect(try #require(survey.look(aims, few: 9)?.memory) > #require(resting) + 10_000_000)
    }
}
