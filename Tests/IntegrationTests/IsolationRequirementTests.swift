import Foundation
import TaskHostTestSupport
import Testing

/// A machine that lacks Landlock, a layer that every manifest counts on.
@Suite(.system) struct IsolationRequirementTests {
    /// A runner whose kernel has no Landlock: a filter answers its system calls with ENOSYS.
    private static let runner = """
        #include <errno.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stddef.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <unistd.h>

        int main(int count, char **arguments) {
            (void)count;
            struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
                BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, 2, &program) != 0) return 70;
            execv("RUNNER", arguments);
            perror("RUNNER");
            return 71;
        }
        """

    private func host(_ requirement: String?) throws -> HostProcess {
        let host = try HostProcess()
        let program = host.directory.appendingPathComponent("runner")
        let source = program.appendingPathExtension("c")
        let real = HostProcess.products.appendingPathComponent("bgtask-runner").path
        try Self.runner.replacingOccurrences(of: "RUNNER", with: real)
            .write(to: source, atomically: true, encoding: .utf8)
        try PluginCompiler.build(source, into: program, options: ["-Wall", "-Werror"])
        host.environment["BGTASK_PATHS_RUNNER"] = program.path
        if let requirement { host.environment["BGTASK_ISOLATION_REQUIRE"] = requirement }
        try EndToEndTests.install(in: host)
        try host.start()
        return host
    }

    @Test func `a launch is refused with the reason, and everything says so beforehand`() throws {
        let host = try host(nil)
        let doctor = host.run("doctor").output
        #expect(doctor.contains("no   sandbox: Landlock files"), "\(doctor)")
        #expect(doctor.contains("to get landlock: Boot Linux 5.13 or newer"), "\(doctor)")
        let finding = "the manifest counts on isolation that this machine lacks: landlock"
        let plugins = host.run("plugins").output
        #expect(plugins.contains("warning: the host refuses its launches: \(finding)"), "\(plugins)")
        let security = host.run("security", "com.example.counting").output
        #expect(security.contains(finding) && security.contains("isolation: {require: best}"), "\(security)")
        let answer = host.run("submit", "com.example.counting.count", "--wait")
        #expect(answer.status == 1, "\(answer)")
        let row = try #require(try host.launches(of: "com.example.counting.count").last)
        #expect(row["outcome"] as? String == "failed")
        #expect((row["message"] as? String ?? "").contains(finding), "\(row)")
        #expect(host.stop() == 0)
    }

    @Test func `with the best there is, it launches, and the record says what that was`() throws {
        let host = try host("best")
        let answer = host.run("submit", "com.example.counting.count", "--wait")
        #expect(answer.status == 0, "\(answer)")
        let row = try #require(try host.launches(of: "com.example.counting.count").last)
        let isolation = try #require(row["isolation"] as? String)
        #expect(isolation.contains("seccomp") && !isolation.contains("landlock"), "\(isolation)")
        let grade = try #require(try host.json("security") as? [[String: Any]]).first
        #expect(grade?["missing"] as? [String] == ["landlock"], "\(grade ?? [:])")
        #expect(grade?["refusal"] is NSNull)
        #expect(host.stop() == 0)
    }
}
