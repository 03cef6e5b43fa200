import Foundation
import LinuxSystem
@testable import HandlerRegistry
import TaskModel
import Testing

/// Grants whose files this machine lacks, as `bgtask lint` reports them.
@Suite struct GrantedFilesTests {
    private func problems(_ sandbox: String) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write("data/file", "text")
        let text = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            library: libA.so
            modes: [processing]
            tasks:
              - identifier: com.example.a
                kind: processing
                payload: {path: string}
            sandbox: \(sandbox.replacing("HERE", with: folder.path + "/data"))
            """
        try folder.write("data/a.yaml", text)
        return ManifestLinter.lint(
            files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil, looksUpGrants: true
        ).map { "\($0.finding). \($0.remedy ?? "")".replacing(folder.path + "/data", with: "HERE") }
    }

    @Test func `a grant of a missing path has no effect`() throws {
        #expect(
            try problems("{read: [HERE/none], write: [HERE/new]}") == [
                "the read grant 'HERE/none' has no effect: this machine has no such path. "
                    + "Create it before the launch, or correct the path",
                "the write grant 'HERE/new' has no effect: this machine has no such path. "
                    + "Create it, or let the host create it: write: [{path: HERE/new, create: true}]",
            ])
    }

    @Test func `a write grant of a file is less than that of its directory`() throws {
        #expect(
            try problems("{write: [HERE/file]}") == [
                "the write grant 'HERE/file' is a file: a task can change it, but not replace or remove it. "
                    + "Grant the directory that contains it"
            ])
    }

    @Test func `grants that have an effect, or depend on a payload, are no problem`() throws {
        let grants =
            #"{read: [HERE/file, HERE, "${payload.path}"], write: [{path: HERE/x, create: true}]}"#
        #expect(try problems(grants) == [])
        #expect(try problems("{write: [HERE]}") == [])
    }

    /// On a host that runs as root, no user of a bundle is the owner of the folder.
    @Test(arguments: [(0o755, true), (0o1777, false), (0o775, false)])
    func `a write grant of a directory of another user is a warning`(mode: Int, warns: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write("data/file", "text")
        let data = folder.path + "/data"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: data)
        try folder.write(
            "a.yaml",
            """
            apiVersion: bgtask/v1
            bundle: com.example.a
            library: libA.so
            modes: [processing]
            tasks:
              - identifier: com.example.a
                kind: processing
            sandbox: {write: [{path: \(data), create: true}]}
            """)
        func problems(_ users: ClosedRange<UInt32>?) -> [String] {
            ManifestLinter.lint(files: [folder.path + "/a.yaml"], pluginsDirectory: nil, users: users)
                .map { "\($0)" }
        }
        let found = problems(4_000_000_000...4_000_000_001)
        #expect(found.count == (warns ? 1 : 0), "\(found)")
        #expect(found.allSatisfy { $0.contains("warning") && $0.contains("setfacl -m u:") }, "\(found)")
        #expect(problems(nil) == [])
        #expect(problems(0...UInt32.max - 1) == [])
    }

    /// The grants of the only manifest in a new folder, after the registry has read it, and its problems.
    private func scan(_ sandbox: String) throws -> (grants: [HostGrant], problems: [String]) {
        let folder = try TemporaryFolder()
        func filled(_ text: String) -> String { text.replacing("HERE", with: folder.path) }
        func emptied(_ text: String) -> String { text.replacing(folder.path, with: "HERE") }
        try folder.write(
            "manifests/a.yaml",
            """
            apiVersion: bgtask/v1
            bundle: com.example.a
            modes: [processing]
            tasks:
              - identifier: com.example.a
                kind: processing
                command: {run: [/bin/true]}
            sandbox: \(filled(sandbox))
            """)
        let registry = HandlerRegistry(
            manifestsDirectory: folder.path + "/manifests", pluginsDirectory: folder.path + "/plugins",
            libraryCacheDirectory: folder.path + "/cache", stateDirectory: folder.path + "/data",
            configuration: [folder.path + "/etc/bgtask", folder.path + "/share/bgtaskd.yaml"],
            programs: [folder.path + "/libexec/bgtask-runner"],
            controlSocket: folder.path + "/run/control.sock",
            startup: [folder.path + "/home/.ssh", folder.path + "/home/.bashrc"])
        let snapshot = registry.scan()
        let linted = ManifestLinter.lint(
            files: [folder.path + "/manifests/a.yaml"], pluginsDirectory: nil, hostFiles: registry.hostFiles)
        #expect(snapshot.problems == linted)
        return (
            snapshot.handlers.flatMap(\.hostGrants).map {
                HostGrant(path: emptied($0.path), isWrite: $0.isWrite, opens: emptied($0.opens))
            }, snapshot.problems.map { "\($0.severity): \(emptied($0.finding))" }
        )
    }

    @Test(arguments: [
        ("HERE/manifests", "the host's manifests, HERE/manifests"),
        ("HERE/plugins/new", "the host's plugins, HERE/plugins"),
        ("HERE", "the host's manifests, HERE/manifests"),
        ("HERE/data/store.sqlite", "the host's state, HERE/data"),
        ("HERE/etc/bgtask/conf.d", "the host's configuration, HERE/etc/bgtask"),
        ("HERE/etc", "the host's configuration, HERE/etc/bgtask"),
        ("HERE/share", "the host's configuration, HERE/share/bgtaskd.yaml"),
        ("HERE/libexec", "the host's programs, HERE/libexec"),
        ("HERE/libexec/bgtask-transfer", "the host's programs, HERE/libexec"),
        ("HERE/run", "the host's control socket, HERE/run/control.sock"),
        ("HERE/home/.bashrc", "files that start programs outside of the sandbox, HERE/home/.bashrc"),
        ("HERE/home/.ssh/new", "files that start programs outside of the sandbox, HERE/home/.ssh"),
        ("HERE/home", "files that start programs outside of the sandbox, HERE/home/.ssh"),
    ])
    func `a write grant of the host's own files is an error`(_ sample: (path: String, opens: String)) throws {
        let (grants, problems) = try scan("{write: [\(sample.path)]}")
        #expect(grants == [HostGrant(path: sample.path, isWrite: true, opens: sample.opens)])
        #expect(
            problems == [
                "error: with the write grant '\(sample.path)', tasks could change \(sample.opens), and so "
                    + "control the host"
            ])
    }

    @Test func `a read grant of the host's own files is a warning, except for plugins`() throws {
        let (grants, problems) = try scan("{read: [HERE/manifests, HERE/plugins, HERE/cache]}")
        #expect(grants.map(\.path) == ["HERE/manifests"])
        #expect(
            problems == [
                "warning: with the read grant 'HERE/manifests', tasks may read the host's manifests, "
                    + "HERE/manifests"
            ])
    }

    @Test func `files that start programs are refused by the names that users have for them`() throws {
        let home = try #require(ProcessInfo.processInfo.environment["HOME"])
        let files = HostFiles(startup: StartupFiles.standard())
        for name in [
            ".bashrc", ".config/systemd/user", ".config/autostart/x.desktop", ".ssh", ".local/bin",
            ".profile",
        ] {
            #expect(files.opened(by: "\(home)/\(name)", isWrite: true) != nil, "\(name)")
        }
        for path in ["/etc/cron.d", "/var/spool/cron/crontabs", "/etc", home] {
            #expect(files.opened(by: path, isWrite: true) != nil, "\(path)")
        }
        for path in ["\(home)/Documents", "\(home)/.config/other", "/srv", "/var/cache/other", "/tmp/x"] {
            #expect(files.opened(by: path, isWrite: true) == nil, "\(path)")
        }
    }

    /// A service of systemd without `User=` has no HOME.
    @Test func `the home directory of the user's entry is protected, whatever HOME says`() throws {
        let home = try #require(UserHomes.directory(ofUser: ProcessFacts.user))
        let startup = StartupFiles.standard(home: "/srv/elsewhere")
        #expect(startup.contains("\(home)/.bashrc") && startup.contains("/srv/elsewhere/.bashrc"))
        #expect(StartupFiles.standard(home: nil).contains("\(home)/.bashrc"))
    }

    @Test func `people's homes come from the list of users, without those who can't log in`() {
        let users = """
            root:x:0:0:root:/root:/bin/bash
            daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
            anna:x:1000:1000:Anna,,,:/home/anna:/bin/zsh
            sync:x:4:65534:sync:/bin:/bin/sync
            proxy:x:13:13:proxy:/bin:/bin/sh
            ghost:x:1001:1001::/home/ghost:/bin/false
            twice:x:1002:1002::/home/anna:/bin/sh
            bad line
            empty:x:1003:1003:::/bin/sh
            """
        #expect(UserHomes.ofPeople(inPasswd: users, limit: 10) == ["/root", "/home/anna"])
        #expect(UserHomes.ofPeople(inPasswd: users, limit: 1) == ["/root"])
    }

    @Test func `grants beside the control socket are no problem`() throws {
        let (grants, problems) = try scan("{write: [HERE/run/other]}")
        #expect(grants.isEmpty && problems.isEmpty)
    }

    @Test func `grants of a bundle's data in the state directory are no problem`() throws {
        let (grants, problems) = try scan("{write: [HERE/data/data/com.example.b]}")
        #expect(grants.isEmpty && problems.isEmpty)
    }

    @Test func `a grant that contains a link to the host's own files opens them`() throws {
        let folder = try TemporaryFolder()
        try folder.write("manifests/bgtaskd.yaml", "{}")
        try folder.write("data/other", "")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/data/bgtaskd.yaml",
            withDestinationPath: folder.path + "/manifests/bgtaskd.yaml")
        let files = HostFiles(configuration: [folder.path + "/data/bgtaskd.yaml"])
        #expect(files.opened(by: folder.path + "/data", isWrite: true) != nil)
        #expect(files.opened(by: folder.path + "/manifests", isWrite: true) != nil)
        #expect(files.opened(by: folder.path + "/data/other", isWrite: true) == nil)
    }

    @Test func `a launch with a value of the payload that names the host's own files is refused`() throws {
        let files = HostFiles(manifests: ["/srv/manifests"], state: "/srv/state")
        var grants = ResolvedGrants()
        let identifier = try TaskIdentifier("com.example.a")
        grants.files.write = ["/srv/other", "/srv/state/data/com.example.b"]
        try files.check(grants, of: identifier)
        grants.files.write.append("/srv/manifests")
        #expect(throws: SubmissionError.self) { try files.check(grants, of: identifier) }
    }

    @Test(arguments: ["bashrc", "middle"])
    func `a link to a start-up file that is made while the host runs protects the file`(target: String) throws
    {
        let folder = try TemporaryFolder()
        let home = try PathWalk(folder.path).realPath
        try FileManager.default.createDirectory(
            atPath: home + "/dotfiles", withIntermediateDirectories: false)
        try folder.write("dotfiles/bashrc", "")
        try FileManager.default.createSymbolicLink(
            atPath: home + "/middle", withDestinationPath: "dotfiles/bashrc")
        let files = HostFiles(startup: [home + "/.bashrc"])
        let identifier = try TaskIdentifier("com.example.a")
        var grants = ResolvedGrants()
        grants.files.write = [home + "/dotfiles"]
        try files.check(grants, of: identifier)
        try FileManager.default.createSymbolicLink(
            atPath: home + "/.bashrc", withDestinationPath: target == "middle" ? target : "dotfiles/bashrc")
        #expect {
            try files.check(grants, of: identifier)
        } throws: { error in
            "\(error)".contains("files that start programs outside of the sandbox, \(home)/dotfiles/bashrc")
        }
        try FileManager.default.removeItem(atPath: home + "/.bashrc")
        try files.check(grants, of: identifier)
    }

    /// A service that is installed later reads what a task has put there.
    @Test(arguments: [
        "/etc/new.d", "/etc/new", "/run/new.d", "/run/new", "/usr/local/new", "/lib64/new", "/boot/new",
    ])
    func `no directory is made where programs of root look for their settings`(path: String) throws {
        let files = HostFiles(startup: StartupFiles.standard())
        let real = try PathWalk(path).realPath
        var grants = ResolvedGrants()
        grants.files.write = [real]
        grants.created = [real]
        let identifier = try TaskIdentifier("com.example.a")
        #expect(throws: SubmissionError.self) { try files.check(grants, of: identifier) }
        var sandbox = SandboxDeclaration()
        sandbox.write = [WriteGrant(path: real, create: true)]
        #expect(files.grants(of: sandbox).map(\.path) == [real])
    }

    @Test func `directories elsewhere are made, and those that exist are granted`() throws {
        let files = HostFiles(startup: StartupFiles.standard())
        let folder = try TemporaryFolder()
        let identifier = try TaskIdentifier("com.example.a")
        for path in [
            "/srv/new", "/var/lib/new", "/var/cache/new", "/mnt/new", "/new", "/dev/shm/new", "/run/lock/new",
            "/etcetera/new", folder.path, folder.path + "/new.d", "/etc",
        ] {
            #expect(files.opened(byCreating: path) == nil, "\(path)")
        }
        var grants = ResolvedGrants()
        grants.files.write = ["/srv/new", folder.path + "/new.d"]
        grants.created = grants.files.write
        try files.check(grants, of: identifier)
    }

    @Test func `what lies in a directory of settings is refused by the name of the directory`() {
        let files = HostFiles(startup: StartupFiles.standard())
        for path in ["/etc/rsyslog.d", "/etc/nginx/conf.d/x", "/run/NetworkManager/conf.d", "/run/sysctl.d"] {
            #expect(files.opened(by: path, isWrite: true) != nil, "\(path)")
        }
        for path in ["/srv/site/conf.d", "/etc/nginx/sites", "/run/nginx", "/etc/x.data"] {
            #expect(files.opened(by: path, isWrite: true) == nil, "\(path)")
        }
        #expect(files.opened(by: "/etc/rsyslog.d", isWrite: false) == nil, "reading is no problem")
    }
}
