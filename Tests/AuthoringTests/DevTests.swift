import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask dev`, run as a program, with a real host.
@Suite(.system, .timeLimit(.minutes(5))) struct DevTests {
    /// A plugin of one C file; `body` is the body of its handler.
    private func plugin(_ body: String) -> String {
        """
        #include <bgtask.h>
        #include <stdio.h>
        static void run(bgtask_task *task, const bgtask_host *host) { \(body) }
        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};
        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }
        """
    }

    private func manifest(_ tasks: String = "  - {identifier: org.example.dev.work, kind: processing}")
        -> String
    {
        "apiVersion: bgtask/v1\nbundle: org.example.dev\nlibrary: libdev.so\nmodes: [processing]\ntasks:\n\(tasks)\n"
    }

    private func dev(_ folder: Folder, _ arguments: String...) -> Command.Answer {
        Command.run(
            [Products.path("bgtask"), "dev", folder.path + "/p"] + arguments,
            environment: ["TMPDIR": folder.path])
    }

    /// The temporary directories that a session did not remove.
    private func leftovers(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("bgtask-dev") }
    }

    @Test func `everything that is said is in one terminal`() throws {
        let folder = try Folder()
        try folder.write("p/dev.yaml", manifest())
        try folder.write(
            "p/work.c",
            plugin(
                """
                printf("said on stdout\\n");
                fprintf(stderr, "said on stderr\\n");
                host->log(task, BGTASK_LOG_NOTICE, "said to the log");
                host->progress(task, 1, 2, "half way");
                host->complete(task, 1, "all is well");
                """))
        let answer = dev(folder, "--once")
        #expect(answer.status == 0, "\(answer.output)")
        for text in [
            "== cc -std=c17", "== org.example.dev.work", "stdout  L1 org.example.dev.work said on stdout",
            "stderr  L1 org.example.dev.work said on stderr", "said to the log", "50 % 1/2 half way",
            "L1 succeeded after", "all is well",
        ] {
            #expect(answer.output.contains(text), "\(text) in\n\(answer.output)")
        }
        #expect(try leftovers(folder) == [])
    }

    @Test func `a handler that fails, and a crash, make once exit 1`() throws {
        let folder = try Folder()
        try folder.write("p/dev.yaml", manifest())
        try folder.write("p/work.c", plugin("host->complete(task, 0, \"no text to count\");"))
        let failed = dev(folder, "--once")
        #expect(failed.status == 1 && failed.output.contains("L1 failed (handlerFailed)"), "\(failed.output)")
        #expect(failed.output.contains("no text to count"))
        try folder.write("p/work.c", plugin("__builtin_trap();"))
        let crashed = dev(folder, "--once")
        #expect(crashed.status == 1 && crashed.output.contains("L1 crashed (signal)"), "\(crashed.output)")
    }

    @Test func `a build that fails says what to mend, and starts no host`() throws {
        let folder = try Folder()
        try folder.write("p/dev.yaml", manifest())
        try folder.write("p/work.c", "int x = ;\n")
        let answer = dev(folder, "--once")
        #expect(answer.status == 1 && answer.output.contains("work.c:1:9: error"), "\(answer.output)")
        #expect(answer.output.contains("the build ended with status 1. Fix the errors that cc reports above"))
        #expect(try leftovers(folder) == [])
    }

    @Test func `what a directory lacks is said with what to do`() throws {
        let folder = try Folder()
        try folder.write("p/work.c", plugin(""))
        let bare = dev(folder)
        #expect(
            bare.status == 1 && bare.output.contains("it contains no manifest (*.yaml)"), "\(bare.output)")
        try folder.write("p/dev.yaml", manifest("  - {identifier: org.example.dev.work, kindd: processing}"))
        let wrong = dev(folder)
        #expect(
            wrong.status == 1 && wrong.output.contains("dev.yaml:6:40: error: unknown key 'kindd'"),
            "\(wrong.output)")
        try folder.write("p/dev.yaml", manifest())
        try folder.write("p/Makefile", "all:\n\t@true\n")
        let unbuilt = dev(folder)
        #expect(
            unbuilt.status == 1
                && unbuilt.output.contains("libdev.so: a manifest names it, but the build did not create it"),
            "\(unbuilt.output)")
        let missing = bgtask("dev", folder.path + "/none")
        #expect(missing.status == 1 && missing.output.contains("Give the plugin's directory"), "\(missing)")
        #expect(bgtask("dev", "--once", "--watch").status == 2)
        #expect(try leftovers(folder) == [])
    }

    /// A manifest that calls a function of a library.
    private func call(_ library: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: org.example.dev
        modes: [processing]
        tasks:
          - identifier: org.example.dev.call
            kind: processing
            call:
              library: \(library)
              steps: [{function: greet, returns: int, arguments: [{string: "greeted"}]}]

        """
    }

    @Test func `a call's library may be built here, or be in the host's plugins directory`() throws {
        let folder = try Folder()
        let source = "#include <stdio.h>\nint greet(const char *text) { puts(text); return 0; }\n"
        try folder.write("p/dev.yaml", call("libgreet.so"))
        try folder.write("p/greet.c", source)
        try folder.write("p/Makefile", "libgreet.so: greet.c\n\tcc -shared -fPIC -o $@ $<\n")
        let built = dev(folder, "--once")
        #expect(built.status == 0 && built.output.contains("greeted"), "\(built.output)")
        try folder.write("p/dev.yaml", call("libgret.so"))
        let wrong = dev(folder, "--once")
        #expect(
            wrong.status == 1
                && wrong.output.contains("libgret.so: a manifest calls it, but the build did not create it"),
            "\(wrong.output)")

        let plugins = folder.path + "/plugins"
        try folder.write("plugins/.keep", "")
        #expect(Command.run("mv", folder.path + "/p/libgreet.so", plugins).status == 0)
        #expect(Command.run("rm", folder.path + "/p/greet.c", folder.path + "/p/Makefile").status == 0)
        try folder.write("p/dev.yaml", call("libgreet.so"))
        let installed = Command.run(
            [Products.path("bgtask"), "dev", folder.path + "/p", "--once"],
            environment: ["TMPDIR": folder.path, "BGTASK_PATHS_PLUGINS": plugins])
        #expect(installed.status == 0 && installed.output.contains("greeted"), "\(installed.output)")
    }

    @Test func `a task that needs a payload is launched with it alone`() throws {
        let folder = try Folder()
        try folder.write(
            "p/dev.yaml",
            manifest(
                """
                  - {identifier: org.example.dev.work, kind: processing}
                  - {identifier: org.example.dev.file, kind: processing, payload: {path: string}}
                """))
        try folder.write(
            "p/work.c",
            plugin(
                """
                const bgtask_launch *launch = host->launch(task);
                printf("payload %.*s\\n", (int)launch->payload_length, (const char *)launch->payload);
                host->complete(task, 1, "");
                """))
        let without = dev(folder, "--once")
        #expect(without.status == 1, "\(without.output)")
        #expect(
            without.output.contains(
                "bgtask dev --task org.example.dev.file --payload '{\"path\": ...}'"), "\(without.output)")
        #expect(without.output.contains("L1 succeeded"))
        let with = dev(
            folder, "--once", "--task", "org.example.dev.file", "--payload", "{\"path\": \"/etc/hosts\"}")
        #expect(
            with.status == 0 && with.output.contains("payload {\"path\": \"/etc/hosts\"}"), "\(with.output)")
        let unknown = dev(folder, "--once", "--task", "org.example.dev.none")
        #expect(
            unknown.status == 1
                && unknown.output.contains("Permitted tasks: org.example.dev.work, org.example.dev.file"),
            "\(unknown.output)")
    }

    @Test func `JSON has the launches, and everything else goes elsewhere`() throws {
        let folder = try Folder()
        try folder.write("p/dev.yaml", manifest())
        try folder.write("p/work.c", plugin("host->complete(task, 1, \"fine\");"))
        let round = try #require(
            try json("dev", folder.path + "/p", "--once", "--json", "--state", folder.path + "/state")
                as? [String: Any])
        #expect(round["succeeded"] as? Bool == true, "\(round)")
        let launches = try #require(round["launches"] as? [[String: Any]])
        #expect(launches.map { $0["message"] as? String } == ["fine"])
        #expect(folder.has("state"))
    }

    @Test func `a change builds and launches again, and when it is killed nothing of it stays`() throws {
        let folder = try Folder()
        try folder.write("p/dev.yaml", manifest())
        try folder.write("p/work.c", plugin("host->complete(task, 1, \"first version\");"))
        let output = URL(filePath: folder.path + "/out")
        let session = try CompanionProcess(
            [Products.path("bgtask"), "dev", "--watch", folder.path + "/p"],
            environment: ["TMPDIR": folder.path, "NO_COLOR": "1"], output: output)
        func text() -> String { (try? folder.read("out")) ?? "" }
        try waitUntil("the first round ends: \(text())", seconds: 60) {
            text().contains("first version") && text().contains("All tasks were launched")
        }
        try folder.write("p/work.c", plugin("host->complete(task, 1, \"second\" +;"))
        try waitUntil("the mistake is told", seconds: 60) {
            text().contains("Fix the errors that cc reports above") && text().contains("Waiting for a change")
        }
        try folder.write("p/work.c", plugin("host->complete(task, 1, \"second version\");"))
        try waitUntil("the next round ends", seconds: 60) { text().contains("second version") }
        // The session is killed without a request to stop, as can happen when a terminal closes.
        session.end()
        try waitUntil("its temporary directories are gone", seconds: 60) { try leftovers(folder) == [] }
        // The shell that removes the directory ends a moment after it, and has its path in its arguments.
        try waitUntil("its processes are gone", seconds: 60) {
            Command.run("pgrep", "-f", folder.path + "/bgtask-dev").status == 1
        }
    }
}
