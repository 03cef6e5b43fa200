import Authoring
import HandlerRegistry
import LinuxSystem
import TaskModel
import Testing

/// Manifests from crontabs, read back as the host reads them.
@Suite struct CrontabImportTests {
    private func jobs(_ text: String, hasUsers: Bool = false) -> ImportedJobs {
        CrontabImport.jobs(in: text, path: "crontab", hasUsers: hasUsers)
    }

    private func dates(_ line: String) -> [String] {
        jobs(line + " /bin/true").jobs.flatMap(\.manifest.timings).compactMap(\.at)
    }

    @Test(arguments: [
        ("30 2 * * *", ["02:30"]), ("*/15 * * * *", ["*:00/15"]), ("5 */2 * * *", ["00/2:05"]),
        ("0 8-18 * * 1-5", ["Mon..Fri 08..18:00"]), ("0 0 1 1,7 *", ["*-01,07-01 00:00"]),
        ("0 4 * * sun,SAT", ["Sat,Sun 04:00"]), ("0 4 * * 0-7", ["04:00"]),
        ("0 4 * jan-mar *", ["*-01..03-* 04:00"]),
        ("7/20 3 * * *", ["03:07/20"]), ("1,2,3,7 0 * * *", ["00:01..03,07"]), ("* * * * *", ["*:*"]),
        // Either the day or the weekday.
        ("0 5 13 * 5", ["*-*-13 05:00", "Fri *-*-01..12,14..31 05:00"]),
        ("0 5 13 6 5", ["*-06-13 05:00", "Fri *-06-01..12,14..31 05:00"]),
        // One of the fields has every date; seen with Debian's cron.
        ("0 5 1-31 * 1", ["05:00"]), ("0 5 1 3 0-6", ["*-03-* 05:00"]),
        // A field with a star is no limit of its own, so both must match.
        ("0 5 */2 * 5", ["Fri *-*-01/2 05:00"]),
        ("@daily", ["daily"]), ("@Weekly", ["Sun 00:00"]),
    ])
    func `dates of cron are calendar expressions`(line: String, expected: [String]) throws {
        #expect(dates(line) == expected)
        let folder = try Folder()
        for job in jobs(line + " /bin/true").jobs {
            let path = try job.manifest.write(to: folder.path)
            #expect(ManifestLinter.lint(files: [path], pluginsDirectory: nil).map(\.description) == [])
        }
    }

    @Test(arguments: [
        "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *",
        "a * * * *", "1,,2 * * * *", "0~59 * * * *", "@never", "-1 * * * *", "* * * foo *",
    ])
    func `dates that cron refuses are refused with the line`(dates: String) {
        let result = jobs("# comment\n\(dates) /bin/true")
        #expect(result.jobs.isEmpty)
        #expect(result.failures.first?.hasPrefix("crontab:2: ") == true)
    }

    @Test func `a date that no year has is not kept`() {
        let result = jobs("0 0 31 2 * echo never\n0 0 30 2,4 * echo sometimes")
        #expect(result.jobs.count == 1)
        #expect(result.failures.count == 1)
        #expect(result.failures.first?.hasPrefix("crontab:1: no year has day '31' in month '2'") == true)
        // Cron runs it on the Mondays of February.
        #expect(dates("0 0 31 2 1") == ["Mon *-02-01..30 00:00"])
    }

    @Test(arguments: [
        ">> /var/log/no-such-dir/a.log", "2>/srv/no-such-dir/b", "> /var/log/no-such-dir/a.log 2>&1",
    ])
    func `a note says that the sandbox refuses a file that the line writes`(redirection: String) throws {
        let job = try #require(jobs("@daily /bin/date \(redirection)").jobs.first)
        #expect(
            job.notes.contains { $0.hasPrefix("It writes to /") && $0.contains("no-such-dir/") },
            "\(job.notes)")
        let quiet = try #require(jobs("@daily /bin/date >/dev/null 2>&1").jobs.first)
        #expect(quiet.notes == [])
    }

    @Test func `variables, the shell and standard input are kept`() throws {
        let text = #"""
            SHELL = /bin/bash
            PATH="/opt/tools:/usr/bin"
            MAILTO=ops@example.com
            @reboot  [[ -e x ]] && mail -s "50\% full" ops%first line%second
            """#
        let job = try #require(jobs(text).jobs.first)
        #expect(job.manifest.timings.first?.onBoot == true)
        #expect(
            job.manifest.action
                == .run([
                    "/bin/bash", "-c",
                    "{ [[ -e x ]] && mail -s \"50% full\" ops\n} <<'END'\nfirst line\nsecond\nEND",
                ]))
        #expect(job.manifest.environment == ["PATH": "/opt/tools:/usr/bin"])
        #expect(job.notes.contains { $0.contains("ops@example.com") })
    }

    @Test func `line breaks of Windows end lines, and data can't end before their mark`() throws {
        let two = jobs("# comment\r\n0 2 * * * /bin/echo a\r\n0 3 * * * /bin/echo b\r\n")
        #expect(
            two.jobs.map(\.manifest.action) == [
                .script("set +e\n/bin/echo a"), .script("set +e\n/bin/echo b"),
            ])
        let data = try #require(jobs("0 2 * * * cat%x\r%END%touch /tmp/no").jobs.first)
        guard case .script(let script) = data.manifest.action else { return }
        #expect(script.hasSuffix("\nEND_"))
    }

    @Test func `a job has the name of its program, and no two have the same`() {
        let text = """
            0 1 * * * cd /tmp && nice -n 19 /usr/local/bin/backup.sh --all
            0 2 * * * LANG=C backup --more
            0 3 * * * test -x /usr/sbin/anacron || run-parts /etc/cron.daily
            """
        #expect(jobs(text).jobs.map(\.manifest.name) == ["backup", "backup-2", "run-parts"])
    }

    @Test(arguments: [
        "rsync -r --delete ~/ /mnt/no-such-dir/", "~/bin/nightly.sh", "\"$HOME/bin/x\"", "${HOME}/bin/x a",
        "for f in docs/*; do echo $f; done", "find . -name x", "cd && ls", "cd docs && ls",
        "mail -s list ops < docs/list", "tar cf /dev/null docs", "./docs/list",
    ])
    func `a line that names files of the home directory starts there, as with cron`(command: String) throws {
        let home = try Folder()
        try home.write("docs/list", "a\n")
        let text = "0 3 * * * \(command)"
        let read = CrontabImport.jobs(in: text, path: "crontab", hasUsers: false, home: home.path)
        let job = try #require(read.jobs.first)
        #expect(job.manifest.directory == home.path)
        #expect(job.manifest.environment["HOME"] == home.path)
        #expect(job.notes.contains { $0.hasPrefix("As with cron, HOME and the working directory are") })
    }

    @Test func `a line that names none keeps its data directory, and a note says so`() throws {
        let home = try Folder()
        let text = "HOME=\(home.path)\n0 3 * * * date >/dev/null; ls -l /usr"
        let job = try #require(jobs(text).jobs.first)
        #expect(job.manifest.directory == nil && job.manifest.environment == [:])
        #expect(job.notes.contains { $0.contains("data directory of the job, and not \(home.path)") })
    }

    @Test(arguments: [
        ("date >> /tmp/no-such-file.log", "It writes to /tmp/no-such-file.log"),
        ("flock -n /tmp/no-such.lock echo locked", "Leave 'flock' out"),
        ("touch /run/lock/no-such.lock", "a job has no /tmp of the machine"),
        ("curl -s http://example.com/feed", "needs --internet"),
        ("python3 /usr/bin/fetch ftp://example.com", "needs --internet"),
        ("test -x /usr/bin/certbot && perl -e 'sleep 9' && certbot -q renew", "needs --internet"),
        ("rsync -a /srv/photos backup:photos", "needs --internet"),
        ("cd /srv && git pull -q", "needs --internet"),
        ("find /tmp -mtime +7 -delete", "a job has no /tmp of the machine"),
        ("root /bin/true", "give --system"),
    ])
    func `a note says what the sandbox will refuse`(command: String, note: String) throws {
        let job = try #require(jobs("0 3 * * * \(command)").jobs.first)
        #expect(job.notes.contains { $0.contains(note) }, "\(job.notes)")
    }

    @Test func `the name is that of the program behind flock, or the given one`() {
        let text = "0 1 * * * flock -n /tmp/l.lock backup --all\n0 2 * * * timeout 5m mirror"
        #expect(jobs(text).jobs.map(\.manifest.name) == ["backup", "mirror"])
        let named = CrontabImport.jobs(in: text, path: "crontab", hasUsers: false, name: "night")
        #expect(named.jobs.map(\.manifest.name) == ["night", "night-2"])
    }

    @Test func `a line with days and weekdays is one bundle with two tasks`() throws {
        let folder = try Folder()
        let job = try #require(jobs("0 5 13 * 5 /bin/true").jobs.first)
        let path = try job.manifest.write(to: folder.path)
        #expect(ManifestLinter.lint(files: [path], pluginsDirectory: nil).map(\.description) == [])
        let read = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([]))
        #expect(
            read.0.first?.tasks.map(\.pattern.base.rawValue) == ["local.true.run", "local.true.run-2"])
    }

    @Test func `lines of a system's crontab name a user`() throws {
        let job = try #require(jobs("17 * * * * www-data /bin/true", hasUsers: true).jobs.first)
        #expect(job.manifest.action == .script("set +e\n/bin/true"))
        #expect(job.notes.contains { $0.contains("www-data") })
        let home = try #require(jobs("@daily root ls ~/", hasUsers: true).jobs.first)
        #expect(home.manifest.directory == UserHomes.directory(ofUserNamed: "root"))
        #expect(jobs("17 * * * *", hasUsers: true).failures.count == 1)
    }

    @Test(arguments: [
        "echo 'a: b # c'", "printf '\\t%s' x", " leading", "x: [", "# nothing",
    ])
    func `a command is the same in the manifest`(command: String) throws {
        let folder = try Folder()
        let text = "0 1 * * * " + command.replacing("%", with: "\\%")
        let job = try #require(jobs(text).jobs.first)
        _ = try job.manifest.write(to: folder.path)
        let read = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([]))
        #expect(read.1.filter { $0.severity == .error }.isEmpty)
        guard case .script(let script)? = read.0.first?.tasks.first?.command?.action else {
            Issue.record("no script")
            return
        }
        #expect(script == "set +e\n" + command.drop { $0 == " " } + "\n")
    }
}
