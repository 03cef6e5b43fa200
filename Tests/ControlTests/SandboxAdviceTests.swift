import Foundation
import TaskModel
import Testing

@testable import BgtaskCommands

/// The smallest sandbox that learning launches needed, as `bgtask security BUNDLE --tighten` prints it.
@Suite struct SandboxAdviceTests {
    private typealias Call = ObservedCalls.Call

    private func advice(
        _ granted: SandboxDeclaration, _ calls: [ObservedCalls.Call], isComplete: Bool = true,
        further: Int = 0
    ) throws -> SandboxAdvice {
        let observed = ObservedCalls(calls: calls, further: further, isComplete: isComplete)
        return try SandboxAdvice(
            of: BundleIdentifier("com.example"), granted: granted,
            calls: [(LaunchID(rawValue: 7), observed)])
    }

    private func used(_ path: String, _ use: ObservedCalls.Use) -> ObservedCalls.Call {
        Call(name: use == .execute ? "execve" : "openat", subject: path, use: use, isRefused: false, count: 1)
    }

    @Test func `it contains what was used, and names what was not`() throws {
        let granted = SandboxDeclaration(
            network: .all, read: ["/srv", "/opt/data", "/var/unused"],
            write: [
                WriteGrant(path: "/srv/out", create: true), WriteGrant(path: "/var/never", create: false),
            ],
            subprocesses: true, devices: ["/dev/video0", "/dev/video1"], environment: ["LANG"], gpu: true)
        let advice = try advice(
            granted,
            [
                used("/srv/in/a", .read), used("/opt/data/1", .read), used("/opt/data/2", .read),
                used("/opt/data/3", .read), used("/opt/data/4", .read), used("/srv/out/b", .write),
                used("/srv/out/b", .read), used("/dev/video0", .write),
                Call(name: "connect", subject: "port 443", use: .connect, isRefused: false, count: 2),
                Call(name: "openat", subject: "/etc/shadow", use: .read, isRefused: true, count: 1),
            ])
        #expect(
            advice.lines == [
                "# What L7 used:", "sandbox:", "  network: {connect: [443]}",
                "  read: [/opt/data, /srv/in/a]", "  write: [{path: /srv/out, create: true}]",
                "  devices: [/dev/video0]", "  environment: [LANG]",
                "# Granted now; no recorded call used it:",
                "#   subprocesses: true", "#   read: [/var/unused]", "#   write: [/var/never]",
                "# Refused, and not included; each of these grants would be new:",
                "#   openat of /etc/shadow for reading; to permit it: sandbox: {read: [/etc/shadow]}",
            ])
    }

    @Test func `nothing is granted that the manifest does not grant`() throws {
        let advice = try advice(
            SandboxDeclaration(),
            [
                Call(name: "clone", subject: nil, use: nil, isRefused: true, count: 1),
                Call(name: "openat", subject: "/etc/hosts", use: .read, isRefused: true, count: 1),
            ])
        #expect(advice.sandbox == SandboxDeclaration())
        #expect(advice.lines.contains("sandbox: {}"))
        #expect(advice.lines.contains("#   clone; to permit it: sandbox: {subprocesses: true}"))
    }

    /// What a plugin can do to get a wider grant: each use is inside its grants, and its parent is not.
    @Test func `nothing is wider than the manifest, however a grant is used`() throws {
        let granted = SandboxDeclaration(
            read: ["/r/f1", "/r/f2", "/r/f3", "/r/f4", "/d"],
            write: [
                WriteGrant(path: "/x/out", create: false), WriteGrant(path: "/y/third", create: true),
                WriteGrant(path: "/z/", create: false),
            ])
        let advice = try advice(
            granted,
            [
                used("/r/f1", .read), used("/r/f2", .read), used("/r/f3", .read), used("/r/f4", .read),
                Call(name: "openat", subject: "/r/secret", use: .read, isRefused: true, count: 1),
                used("/d/1", .read), used("/d/2", .read), used("/d/3", .read), used("/d/4", .read),
                // open with O_TMPFILE, chmod, and mkdir -p of the granted directory.
                used("/x/out", .write), used("/y//third/", .write), used("/z/./a/../b", .write),
            ])
        #expect(advice.sandbox.read == ["/d", "/r/f1", "/r/f2", "/r/f3", "/r/f4"])
        #expect(
            advice.sandbox.write == [
                WriteGrant(path: "/x/out", create: false), WriteGrant(path: "/y/third", create: true),
                WriteGrant(path: "/z", create: false),
            ])
    }

    @Test func `a link that a task puts in the place of what it used leads nowhere`() throws {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(
            path: "advice-\(UUID().uuidString)")
        let (grant, secret) = (folder.appending(path: "grant"), folder.appending(path: "secret"))
        for directory in [grant, secret] {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createSymbolicLink(
            at: grant.appending(path: "sub"), withDestinationURL: secret)
        let granted = SandboxDeclaration(write: [WriteGrant(path: grant.path, create: false)])
        for use in [ObservedCalls.Use.write, .read] {
            let sandbox = try advice(granted, [used(grant.path + "/sub/file", use)]).sandbox
            #expect(sandbox.write.map(\.path) + sandbox.read == [grant.path])
        }
    }

    @Test func `files are gathered only where nothing was refused`() throws {
        let files = ["/d/1", "/d/2", "/d/3", "/d/4"]
        let advice = try advice(
            SandboxDeclaration(read: ["/d"]),
            files.map { used($0, .read) } + [
                Call(name: "openat", subject: "/d/key", use: .read, isRefused: true, count: 1)
            ])
        #expect(advice.sandbox.read == files)
    }

    @Test func `ports, devices and programs are those of the manifest`() throws {
        let connected = [443, 80].map {
            Call(name: "connect", subject: "port \($0)", use: .connect, isRefused: false, count: 1)
        }
        let granted = SandboxDeclaration(network: .connect(ports: [443]))
        #expect(try advice(granted, connected).sandbox.network == .connect(ports: [443]))
        #expect(try advice(SandboxDeclaration(), connected).sandbox.network == nil)
    }

    @Test func `grants with a home directory or a payload stay as they are written`() throws {
        let granted = SandboxDeclaration(
            read: ["~/Pictures", "${payload.root}", "~/Music", "/srv/${payload.name}/in"],
            write: [WriteGrant(path: "~/Exports", create: true)])
        let first = try advice(
            SandboxDeclaration(
                read: ["~/Pictures", "~/Music", "/srv/${payload.name}/in"], write: granted.write),
            [
                used("/home/me/Pictures/a.jpg", .read), used("/srv/a/b/in/file", .read),
                used("/home/me/Exports", .write),
            ])
        #expect(first.sandbox.read == ["/srv/${payload.name}/in", "~/Pictures"])
        #expect(first.sandbox.write == granted.write)
        #expect(first.unused == ["read: [~/Music]"])
        #expect(try advice(granted, [used("/any", .read)]).sandbox.read == ["${payload.root}"])
    }

    @Test func `a use that is inside no grant adds nothing, and keeps all grants of its kind`() throws {
        let granted = SandboxDeclaration(
            read: ["/var/run/x"], write: [WriteGrant(path: "/srv/link", create: false)])
        let advice = try advice(granted, [used("/run/x/a", .read), used("/srv/link/b", .write)])
        #expect(advice.sandbox.read == ["/var/run/x"])
        #expect(advice.sandbox.write == granted.write)
        #expect(advice.unused.isEmpty)
        #expect(
            advice.lines.suffix(2) == [
                "# Used, but inside no path of the manifest, so all its paths of that kind stay. A link leads there, or the manifest was another one:",
                "#   openat of /run/x/a for reading",
            ])
    }

    @Test func `what a new manifest needs is listed as narrow grants that are new`() throws {
        let advice = try advice(
            SandboxDeclaration(),
            [
                Call(name: "mkdir", subject: "/srv/new", use: .write, isRefused: true, count: 1),
                Call(name: "openat", subject: "/etc/hosts", use: .read, isRefused: true, count: 1),
            ])
        #expect(advice.sandbox == SandboxDeclaration())
        #expect(
            advice.lines.suffix(3) == [
                "# Refused, and not included; each of these grants would be new:",
                "#   mkdir of /srv/new for writing; to permit it: sandbox: {write: [{path: /srv/new, create: true}]}",
                "#   openat of /etc/hosts for reading; to permit it: sandbox: {read: [/etc/hosts]}",
            ])
    }

    @Test func `launches that recorded refusals alone say nothing about what is needed`() throws {
        let advice = try advice(SandboxDeclaration(read: ["/srv"]), [], isComplete: false)
        #expect(advice.launches.isEmpty)
        #expect(advice.lines.first?.hasPrefix("# No launch of com.example has recorded") == true)
    }

    @Test func `a record without room is said to be incomplete`() throws {
        #expect(
            try advice(SandboxDeclaration(), [], further: 1).lines.last?.contains("may be missing") == true)
    }

    @Test func `paths with special characters are quoted`() {
        #expect(SandboxAdvice.quoted("/srv/a b") == "'/srv/a b'")
        #expect(SandboxAdvice.quoted("/srv/it's") == "'/srv/it''s'")
        #expect(SandboxAdvice.quoted("~/x") == "'~/x'")
        #expect(SandboxAdvice.quoted("/srv/a.b-c_d") == "/srv/a.b-c_d")
    }
}
