import Foundation
import Glibc
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// Templates whose plugin sends packets of its own to the launcher.
@Suite(
    .system, .serialized,
    .enabled(if: Cgroups.root != nil, "only templates with cgroups stay, and make clones"))
struct HostileTemplateTests {
    /// A launcher with a task of another template, which must not notice anything.
    private final class Field {
        let launcher: TestLauncher
        private let other: TestTask

        init() throws {
            launcher = try TestLauncher()
            let (template, _) = try launcher.template("expires", .cgroup)
            other = try launcher.launch(template, .cgroup)
            try other.waitUntilReady()
            try other.waitForLog()
        }

        func template(that forges: String) throws -> (UInt64, LauncherReport) {
            try launcher.template("forges", .cgroup) { $0.environment.append("FORGES=\(forges)") }
        }

        /// Ends the other task; its end must be the launcher's next report.
        func otherGoesOn() throws {
            try other.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
            #expect(try other.all() == [.done(DoneMessage(success: false, message: "simulated"))])
            #expect(try launcher.exited().waitStatus == 0)
        }
    }

    private func expectKilled(_ template: UInt64, _ report: LauncherReport) {
        guard case .templateFailed(let failed) = report else {
            Issue.record("\(report)")
            return
        }
        #expect(failed.template == template && failed.waitStatus == UInt64(SIGKILL))
    }

    @Test(arguments: ["loaded", "unasked"])
    func `a template that answers what nobody asked is killed, and no other`(forges: String) throws {
        let field = try Field()
        let (template, answer) = try field.template(that: forges)
        guard case .templateReady = answer else { throw HarnessError("\(answer)") }
        expectKilled(template, try field.launcher.next())
        try field.otherGoesOn()
    }

    @Test func `a template that reports failures without end is reported once and killed`() throws {
        let field = try Field()
        guard case .templateFailed = try field.template(that: "failed").1 else {
            throw HarnessError("loaded")
        }
        try field.otherGoesOn()
    }

    @Test func `a template that reports one failure and goes on is killed`() throws {
        let field = try Field()
        let alive = try field.launcher.makeFIFO("alive")
        defer { close(alive) }
        guard case .templateFailed = try field.template(that: "failed-once").1 else {
            throw HarnessError("loaded")
        }
        #expect(try waitUntilReadable(alive), "the process is alive")
        try field.otherGoesOn()
    }

    @Test func `the second answer to one request kills its template, and no other`() throws {
        let field = try Field()
        let (template, _) = try field.template(that: "twice")
        #expect(throws: HarnessError.self) { try field.launcher.launch(template, .cgroup) }
        expectKilled(template, try field.launcher.next())
        try field.otherGoesOn()
    }

    @Test func `descriptors of an empty packet are closed`() throws {
        let field = try Field()
        let before = try field.launcher.countDescriptors()
        let (template, answer) = try field.template(that: "empty")
        expectKilled(template, answer)
        #expect(try field.launcher.countDescriptors() == before)
        try field.otherGoesOn()
    }

    @Test func `descriptors that come with a failure are closed`() throws {
        let field = try Field()
        let (template, _) = try field.template(that: "failing")
        let before = try field.launcher.countDescriptors()
        for number in 1...3 {
            #expect(throws: HarnessError.self) { try field.launcher.launch(template, .cgroup) }
            let group = try Cgroups.make("standby-\(field.launcher.pid)-\(number)")
            defer { rmdir(group) }
            try field.launcher.send(PrepareMessage(template: template, cgroup: group, subprocesses: false))
            guard case .prepared(let prepared) = try field.launcher.next() else {
                throw HarnessError("no answer")
            }
            #expect(prepared.finding != nil)
        }
        #expect(try field.launcher.countDescriptors() == before)
        try field.otherGoesOn()
    }

    @Test func `a template that names another process as its clone is refused, and that process lives on`()
        throws
    {
        let launcher = try TestLauncher()
        let victim = Process()
        victim.executableURL = URL(filePath: "/bin/sleep")
        victim.arguments = ["1000"]
        try victim.run()
        defer { kill(victim.processIdentifier, SIGKILL) }
        try Data("\(victim.processIdentifier)".utf8).write(to: launcher.folder.appending(path: "victim"))
        let (template, answer) = try launcher.template("names_another", .cgroup)
        guard case .templateReady(let ready) = answer else { throw HarnessError("\(answer)") }
        #expect(ready.isCloneable)
        #expect {
            try launcher.launch(template, .cgroup)
        } throws: { error in
            "\(error)".contains("named process \(victim.processIdentifier) as the task, which it is not")
        }
        #expect(victim.isRunning)
    }

    /// No limit of the launch would hold for such a process, and no kill of its group would end it.
    @Test func `a template that names a process outside the launch's group is refused and killed with it`()
        throws
    {
        let launcher = try TestLauncher()
        let group = try Cgroups.make("template-\(launcher.pid)")
        defer { rmdir(group) }
        let (template, answer) = try launcher.template("takes_over", .cgroup) { $0.cgroup = group }
        guard case .templateReady = answer else { throw HarnessError("\(answer)") }
        let alive = try launcher.makeFIFO("alive")
        defer { close(alive) }
        #expect {
            try launcher.launch(template, .cgroup)
        } throws: { error in
            "\(error)".contains("as the task, which it is not")
        }
        expectKilled(template, try launcher.next())
        #expect(try waitUntilReadable(alive), "the process is alive")
    }

    @Test func `a template that makes its standby outside the group is killed with it`() throws {
        let launcher = try TestLauncher()
        let group = try Cgroups.make("template-\(launcher.pid)")
        let standby = try Cgroups.make("standby-\(launcher.pid)")
        defer { for group in [group, standby] { rmdir(group) } }
        let (template, _) = try launcher.template("takes_over", .cgroup) { $0.cgroup = group }
        let alive = try launcher.makeFIFO("alive")
        defer { close(alive) }
        try launcher.send(PrepareMessage(template: template, cgroup: standby, subprocesses: false))
        expectKilled(template, try launcher.next())
        #expect(try waitUntilReadable(alive), "the process is alive")
    }

    /// A standby waits for minutes, and no launch pays for what is in its group.
    @Test(arguments: ["beside", "burns"])
    func `nothing but an idle standby is in its group`(takes: String) throws {
        let launcher = try TestLauncher()
        let group = try Cgroups.make("template-\(launcher.pid)")
        let standby = try Cgroups.make("standby-\(launcher.pid)")
        defer { for group in [group, standby] { rmdir(group) } }
        let (template, _) = try launcher.template("takes_over", .cgroup) {
            $0.cgroup = group
            $0.environment.append("TAKES=\(takes)")
        }
        let alive = try launcher.makeFIFO("alive")
        defer { close(alive) }
        try launcher.send(PrepareMessage(template: template, cgroup: standby, subprocesses: false))
        guard case .prepared(let prepared) = try launcher.next() else { throw HarnessError("no answer") }
        #expect(prepared.finding == nil)
        #expect(try waitUntilReadable(alive), "the process is alive")
        if takes == "burns" { expectKilled(template, try launcher.next()) }
    }

    /// Code that is left behind could use CPU time there, which no launch pays.
    @Test func `a constructor can't leave a child of the launcher in the group of its template`() throws {
        let launcher = try TestLauncher()
        let group = try Cgroups.make("template-\(launcher.pid)")
        defer { rmdir(group) }
        let early = try launcher.makeFIFO("early")
        defer { close(early) }
        let (template, answer) = try launcher.template("constructor_siblings", .cgroup) { $0.cgroup = group }
        guard case .templateReady(let ready) = answer else { throw HarnessError("\(answer)") }
        #expect(ready.isCloneable)
        #expect(try waitUntilReadable(early), "the process is alive")
        let task = try launcher.launch(template, .cgroup)
        #expect(try task.all().last == .done(DoneMessage(success: true, isDeaf: true)))
        #expect(try launcher.exited().waitStatus == 0)
    }

    /// A process whose parent has ended is a child of the launcher, as a new task is.
    @Test(.enabled(if: getuid() == 0, "only root can give users"))
    func `a template that names a process of another bundle as its clone is refused`() throws {
        let launcher = try TestLauncher()
        func template(_ fixture: String, user: UInt32) throws -> UInt64 {
            let (template, answer) = try launcher.template(fixture, .cgroup) {
                $0.sandbox = [.user]
                $0.user = user
            }
            guard case .templateReady = answer else { throw HarnessError("\(answer)") }
            return template
        }
        let victims = try template("leaves_daemon", user: 2_100_000_021)
        let victim = try launcher.launch(victims, .cgroup, fresh: true, subprocesses: true)
        try victim.waitUntilReady()
        guard case .log(let line) = try victim.next() else { throw HarnessError("no daemon") }
        try Data(line.message.utf8).write(to: launcher.folder.appending(path: "victim"))
        let thief = try template("names_another", user: 2_100_000_022)
        #expect {
            try launcher.launch(thief, .cgroup)
        } throws: { error in
            "\(error)".contains("named process \(line.message) as the task, which it is not")
        }
        try launcher.send(KillMessage(launch: victim.launch))
    }
}
