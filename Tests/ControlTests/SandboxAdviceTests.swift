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
                "# Refused, and not included:",
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
