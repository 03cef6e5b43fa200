import Authoring
import HandlerRegistry
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

/// Manifests from timers of systemd, read back as the host reads them.
@Suite struct TimerImportTests {
    private func job(_ timer: String, _ service: String, dropIn: String? = nil) throws -> [ImportedJob] {
        let folder = try Folder()
        let path = try folder.write("backup.timer", "[Timer]\n" + timer)
        try folder.write("backup.service", service)
        if let dropIn { try folder.write("backup.timer.d/more.conf", "[Timer]\n" + dropIn) }
        let imported = try TimerImport.jobs(of: path, home: nil)
        let output = try Folder()
        for job in imported.jobs {
            let manifest = try job.manifest.write(to: output.path)
            let problems = ManifestLinter.lint(files: [manifest], pluginsDirectory: nil)
            #expect(problems.filter { $0.severity == .error }.map(\.description) == [])
        }
        return imported.jobs
    }

    @Test func `the home directory of the user is written out`() throws {
        let folder = try Folder()
        let path = try folder.write("backup.timer", "[Timer]\nOnCalendar=daily\n")
        try folder.write("backup.service", "[Service]\nExecStart=/bin/sh -c 'ls %h/photos'\n")
        let known = try #require(try TimerImport.jobs(of: path, home: "/home/ada").jobs.first)
        #expect(known.manifest.action == .run(["/bin/sh", "-c", "ls /home/ada/photos"]))
        #expect(known.notes.contains { $0.contains("'%h' is written as /home/ada") }, "\(known.notes)")
        let unknown = try #require(try TimerImport.jobs(of: path, home: nil).jobs.first)
        #expect(unknown.notes.contains { $0.contains("'%h' is not known") })
    }

    @Test func `dates, conditions and limits of a timer are kept`() throws {
        let jobs = try job(
            """
            OnCalendar=Mon..Fri 02:30 Europe/Berlin
            OnCalendar=quarterly
            AccuracySec=1h
            RandomizedDelaySec=10min
            WakeSystem=yes
            """,
            """
            [Unit]
            ConditionACPower=true
            Wants=network-online.target
            [Service]
            Type=oneshot
            ExecStart=/usr/bin/env "two words" \\
                three
            WorkingDirectory=/usr
            Environment=A=1 "B=two words"
            SuccessExitStatus=3 5
            KillSignal=SIGINT
            TimeoutStartSec=5min
            ReadWritePaths=/var/tmp
            ProtectSystem=strict
            """)
        #expect(jobs.flatMap(\.manifest.timings).map(\.at) == ["Mon..Fri 02:30", "*-1,4,7,10-1"])
        let manifest = try #require(jobs.first?.manifest)
        #expect(manifest.timings.first?.timeZone == "Europe/Berlin")
        #expect(manifest.timings.first?.tolerance == .seconds(3600))
        #expect(manifest.timings.first?.jitter == .seconds(600))
        #expect(manifest.timings.first?.wake == true)
        #expect(manifest.action == .run(["/usr/bin/env", "two words", "three"]))
        #expect(manifest.environment == ["A": "1", "B": "two words"])
        #expect(manifest.directory == "/usr")
        #expect(manifest.write == ["/var/tmp"])
        #expect(manifest.success == [0, 3, 5] && manifest.stopSignal == "INT")
        #expect(manifest.runtime == .seconds(300))
        #expect(manifest.requiresExternalPower && manifest.requiresNetwork && manifest.usesNetwork)
        #expect(jobs.first?.notes.contains { $0.contains("ProtectSystem=") } == true)
    }

    @Test func `a period, and a start with the machine`() throws {
        let jobs = try job(
            "OnBootSec=5min\nOnUnitActiveSec=1h 30min", "[Service]\nExecStart=/bin/true\n")
        #expect(jobs.flatMap(\.manifest.timings).map(\.every) == ["1h30m"])
        #expect(jobs.first?.manifest.timings.first?.tolerance == .seconds(60))
    }

    @Test func `a date that the host can't keep is named, and the others are kept`() throws {
        let folder = try Folder()
        try folder.write("odd.service", "[Service]\nExecStart=/bin/true\n")
        let path = try folder.write(
            "odd.timer",
            "[Timer]\nOnCalendar=*-*-1..7,~03 4:05/15:30 UTC\nOnCalendar=daily\nRandomizedDelaySec=36h\n")
        let imported = try TimerImport.jobs(of: path, home: nil)
        #expect(imported.jobs.flatMap(\.manifest.timings).map(\.at) == ["daily"])
        #expect(imported.failures.count == 1 && imported.failures.first?.contains("~03") == true)
        #expect(imported.jobs.first?.notes.contains { $0.contains("at most a day") } == true)
    }

    @Test(arguments: [
        ("OnCalendar=hourly\nAccuracySec=1us", Duration?.some(.zero)),
        ("OnUnitActiveSec=30s", .seconds(30)), ("OnUnitActiveSec=5min\nAccuracySec=1h", .seconds(300)),
        ("OnUnitActiveSec=6h\nRandomizedDelaySec=12h", .seconds(60)), ("OnCalendar=daily", nil),
    ])
    func `a tolerance is that of the timer, and not longer than the host takes`(
        timer: String, tolerance: Duration?
    ) throws {
        let folder = try Folder()
        let job = try #require(try job(timer, "[Service]\nExecStart=/bin/true\n").first)
        #expect(job.manifest.timings.first?.tolerance == tolerance)
        let path = try job.manifest.write(to: folder.path)
        let errors = ManifestLinter.lint(files: [path], pluginsDirectory: nil).filter {
            $0.severity == .error
        }
        #expect(errors.map(\.description) == [])
    }

    @Test func `the tasks of one timer never run at the same time`() throws {
        let folder = try Folder()
        let jobs = try job(
            "OnCalendar=hourly\nOnCalendar=daily", "[Service]\nExecStart=/bin/true\n")
        let manifest = try #require(jobs.first?.manifest)
        #expect(jobs.count == 1 && manifest.timings.count == 2)
        _ = try manifest.write(to: folder.path)
        let read = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([]))
        #expect(read.1.filter { $0.severity == .error }.isEmpty)
        let tasks = try #require(read.0.first?.tasks)
        let names = tasks.map(\.pattern.base.rawValue)
        #expect(
            tasks.map { $0.constraints?.conflicts.map(\.base.rawValue) } == names.reversed().map { [$0] })
    }

    @Test func `several commands and variables become a script`() throws {
        let service = """
            [Service]
            ExecStartPre=-/bin/mkdir -p "/tmp/a b"
            ExecStart=/bin/echo $ARGS ${ONE} '%n costs 5$$' "it's" $(date) "${A} ${A:-$(id)}"
            """
        let jobs = try job("OnCalendar=daily", service)
        let script = #"""
            set -f
            /bin/mkdir -p "/tmp/a b" || :
            /bin/echo $ARGS "${ONE}" "backup.service costs 5\$" "it's" "\$(date)" "${A} \${A:-\$(id)}"
            """#
        #expect(jobs.first?.manifest.action == .script(script))
    }

    @Test func `an instance of a template has its name in place of %i, and a drop-in of its own`() throws {
        let folder = try Folder()
        let timer = try folder.write("sync@.timer", "[Timer]\nOnCalendar=daily\n")
        try folder.write(
            "sync@.service", "[Service]\nExecStart=/bin/echo %i %I %p %n a\\x20b\nWorkingDirectory=~\n")
        try folder.write("sync@home-ada.timer.d/more.conf", "[Timer]\nOnCalendar=\nOnCalendar=hourly\n")
        let path = "\(folder.path)/sync@home-ada.timer"
        let manifest = try #require(try TimerImport.jobs(of: path, home: "/srv").jobs.first?.manifest)
        #expect(
            manifest.action
                == .run(["/bin/echo", "home-ada", "home/ada", "sync", "sync@home-ada.service", "a b"]))
        #expect(manifest.timings.map(\.at) == ["hourly"] && manifest.directory == "/srv")
        #expect(manifest.name == "sync-home-ada", "\(manifest.name)")
        let error = #expect(throws: AuthoringError.self) { try TimerImport.jobs(of: timer, home: nil) }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("Give an instance"))
    }

    @Test func `a name that is no name of a variable is left out, and so can't become YAML`() throws {
        let service = #"""
            [Service]
            ExecStart=/bin/true
            Environment="A: b\n  - identifier: local.evil\n    kind: processing\nZ=x" "B=2 3" C="4 5"
            """#
        let jobs = try job("OnCalendar=daily", service)
        #expect(jobs.first?.manifest.environment == ["B": "2 3", "C": "4 5"])
        #expect(jobs.first?.manifest.text.contains("local.evil") == true, "only in a comment")
        #expect(jobs.first?.manifest.text.contains("\n  - identifier: local.evil") == false)
    }

    @Test func `a drop-in adds to a timer, and an empty value removes`() throws {
        let jobs = try job(
            "OnCalendar=daily", "[Service]\nExecStart=/bin/true\n", dropIn: "OnCalendar=\nOnCalendar=hourly")
        #expect(jobs.flatMap(\.manifest.timings).map(\.at) == ["hourly"])
    }

    @Test func `a timer without a service, and a service without a command, are refused`() throws {
        let folder = try Folder()
        let path = try folder.write("nothing-here.timer", "[Timer]\nOnCalendar=daily\n")
        #expect(throws: AuthoringError.self) { try TimerImport.jobs(of: path, home: nil) }
        try folder.write("nothing-here.service", "[Service]\nType=oneshot\n")
        #expect(throws: AuthoringError.self) { try TimerImport.jobs(of: path, home: nil) }
        let error = #expect(throws: AuthoringError.self) {
            try TimerImport.jobs(of: "\(folder.path)/nothing-here.service", home: nil)
        }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("this is a service, not a timer"))
    }
}

/// Scripts from timers of systemd, run by a shell.
@Suite(.system) struct TimerScriptTests {
    @Test func `variables from files are read at each launch, as systemd reads them`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "variables", "# comment\nA=one two\nB=\"q $HOME\"\n; more\nno variable\nC='x'\nE=a=b\nF=last")
        let path = try folder.write("backup.timer", "[Timer]\nOnCalendar=daily\n")
        try folder.write(
            "backup.service",
            """
            [Service]
            EnvironmentFile=\(file)
            EnvironmentFile=-/nowhere/variables
            ExecStart=/usr/bin/printenv A B C E F
            """)
        let jobs = try TimerImport.jobs(of: path, home: nil).jobs
        let manifest = try #require(jobs.first?.manifest)
        #expect(manifest.read.contains(file) && !manifest.read.contains("/nowhere/variables"))
        guard case .script(let script) = manifest.action else { throw TestFailure("\(manifest.action)") }
        let answer = Command.run("sh", "-c", script)
        #expect(answer.output == "one two\nq $HOME\nx\na=b\nlast\n")
        let note = try #require(jobs.first?.notes.first { $0.contains(file) })
        #expect(note.contains("at each launch"))
    }
}
