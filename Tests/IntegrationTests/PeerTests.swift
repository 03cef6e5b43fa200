import Foundation
import TaskHostTestSupport
import Testing

/// Launches that try to be clients of the control socket.
@Suite(.system) struct PeerTests {
    /// A plugin that connects to the socket that its payload names, and submits another bundle's task.
    ///
    /// The process that connects is the task itself, a grandchild that leaves the session, or a grandchild
    /// that gives the connection to the task and ends.
    private static func source(_ how: String) -> String {
        """
        #include <bgtask.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/un.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #include <fcntl.h>

        static void speak(int s, char *answer, size_t size) {
            static const char body[] = "{\\"identifier\\": \\"com.example.victim.run\\"}";
            char request[512];
            int length = snprintf(request, sizeof request,
                "POST /v1/requests HTTP/1.1\\r\\nHost: h\\r\\nContent-Type: application/json\\r\\n"
                "Connection: close\\r\\nContent-Length: %zu\\r\\n\\r\\n%s", sizeof body - 1, body);
            size_t got = 0;
            if (write(s, request, length) != length) { snprintf(answer, size, "write: %s", strerror(errno)); return; }
            for (ssize_t n; got < size - 1 && (n = read(s, answer + got, size - 1 - got)) > 0;) got += n;
            answer[got] = 0;
        }

        static int open_socket(const char *path, char *answer, size_t size) {
            struct sockaddr_un address = {.sun_family = AF_UNIX};
            strncpy(address.sun_path, path, sizeof address.sun_path - 1);
            int s = socket(AF_UNIX, SOCK_STREAM, 0);
            if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) != 0) {
                snprintf(answer, size, "connect: %s", strerror(errno));
                return -1;
            }
            return s;
        }

        static void run(bgtask_task *task, const bgtask_host *host) {
            static char answer[8192];
            const char *payload = host->launch(task)->payload;
            char path[108] = "";
            sscanf(strstr(payload, "/"), "%107[^\\"]", path);
            \(how)
            fprintf(stderr, "ANSWER %.600s\\n", answer);
            host->complete(task, 1, answer[0] ? "attacked" : "nothing");
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof(bgtask_plugin), run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """
    }

    private static let itself = """
        int s = open_socket(path, answer, sizeof answer);
        if (s >= 0) speak(s, answer, sizeof answer);
        """

    private static let grandchild = """
        int ends[2];
        if (pipe(ends) != 0) return;
        pid_t child = fork();
        if (child == 0) {
            setsid();
            if (fork() != 0) _exit(0);
            int s = open_socket(path, answer, sizeof answer);
            if (s >= 0) speak(s, answer, sizeof answer);
            (void)!write(ends[1], answer, strlen(answer));
            _exit(0);
        }
        close(ends[1]);
        waitpid(child, NULL, 0);
        size_t got = 0;
        for (ssize_t n; (n = read(ends[0], answer + got, sizeof answer - 1 - got)) > 0;) got += n;
        """

    /// The child shares the task's table of descriptors, opens the socket in it, and ends.
    private static let dead = """
        #include <sched.h>
        #include <signal.h>
        static char stack[65536];
        s_path = path;
        pid_t child = clone(open_shared, stack + sizeof stack, CLONE_FILES | CLONE_VM | SIGCHLD, NULL);
        if (child < 0) { snprintf(answer, sizeof answer, "clone: %s", strerror(errno)); }
        else {
            waitpid(child, NULL, 0);
            if (s_socket >= 0) speak(s_socket, answer, sizeof answer);
            else snprintf(answer, sizeof answer, "connect: %s", strerror(errno));
        }
        """

    private static func manifest(_ bundle: String, library: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: \(bundle)
        library: \(library)
        modes: [processing]
        tasks:
          - identifier: \(bundle).run
            kind: processing
            requiresExternalPower: false
            requiresNetworkConnectivity: false
        sandbox:
          network: true
          subprocesses: true
        """
    }

    private func attack(_ how: String, functions: String = "", _ arguments: [String] = []) throws -> String {
        let host = try HostProcess()
        try host.start()
        let source = Self.source(how).replacingOccurrences(
            of: "static void run(", with: functions + "\nstatic void run(")
        try host.install(
            source, library: "libattack.so",
            manifest: Self.manifest("com.example.attack", library: "libattack.so"), named: "attack")
        try host.install(
            Self.source(Self.itself), library: "libvictim.so",
            manifest: Self.manifest("com.example.victim", library: "libvictim.so"), named: "victim")
        let answer = host.run(
            "submit", "com.example.attack.run", "--payload", #"{"socket": "\#(host.socket.path)"}"#, "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(try host.launches(of: "com.example.victim.run").isEmpty)
        #expect(!host.run("pending").output.contains("com.example.victim"))
        let launch = try #require(try host.launches(of: "com.example.attack.run").first)
        let log = host.run("show", try #require(launch["launch"] as? String)).output
        let text = try #require(log.range(of: "ANSWER ").map { String(log[$0.upperBound...]) }, "\(log)")
        if text.contains("HTTP/1.1") {
            #expect(text.hasPrefix("HTTP/1.1 403"), "\(text)")
            #expect(host.logTail(400).contains("A request to the control socket was refused"))
        } else {
            // The sandbox did not even let it connect.
            #expect(text.hasPrefix("connect: "), "\(text)")
        }
        #expect(host.stop() == 0)
        return text
    }

    @Test func `a launch is no client of the control socket`() throws {
        _ = try attack(Self.itself)
    }

    @Test func `a grandchild in a session of its own is no client either`() throws {
        _ = try attack(Self.grandchild)
    }

    @Test func `a connection of a process that has ended is refused`() throws {
        let functions = """
            #include <sched.h>
            #include <signal.h>
            static const char *s_path;
            static int s_socket = -1;
            static char s_answer[256];
            static int open_shared(void *unused) {
                (void)unused;
                s_socket = open_socket(s_path, s_answer, sizeof s_answer);
                return 0;
            }
            """
        let how = Self.dead.split(separator: "\n").filter { !$0.hasPrefix("#include") }
            .joined(separator: "\n")
        _ = try attack(how, functions: functions)
    }
}
