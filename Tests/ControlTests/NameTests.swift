import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// Names that users type: short forms, numbers without a letter, and names with a mistake.
@Suite(.system, .timeLimit(.minutes(3))) struct NameTests {
    /// A host with two bundles that have tasks named `hash`.
    private func host() throws -> ScriptedHost {
        let host = ScriptedHost()
        let handlers = try [
            ("com.example.tree", ["com.example.tree.hash", "com.example.tree.walk"]),
            ("com.example.photos", ["com.example.photos.hash", "com.example.photos.export.*"]),
        ].map { bundle, tasks in
            PermittedHandler(
                manifestPath: "/m/\(bundle).yaml",
                manifest: Manifest(
                    bundle: try BundleIdentifier(bundle), library: nil, modes: [.processing],
                    tasks: try tasks.map {
                        TaskDeclaration(pattern: try IdentifierPattern($0), kind: .processing)
                    }, sandbox: SandboxDeclaration()), libraryPath: nil, libraryHash: nil)
        }
        host.edit {
            $0.handlers = handlers
            $0.handlers[1].manifest.appLaunch = try? TaskIdentifier("com.example.photos")
        }
        return host
    }

    @Test func `a short form means the task that it fits`() async throws {
        try await serving(host()) { host, socket in
            for (word, expected) in [
                ("walk", "com.example.tree.walk"), ("ph.ha", "com.example.photos.hash"),
                ("export.42", "com.example.photos.export.42"), ("com.other.task", "com.other.task"),
                // Not short forms: the app's own launches, and a task that may have been removed.
                ("com.example.photos", "com.example.photos"), ("com.example.tree", "com.example.tree"),
            ] {
                let result = await bgtask("submit", word, socket: socket)
                #expect(result.status == 0, "\(result)")
                #expect(host.script.withLock { $0.submissions.last?.identifier.rawValue } == expected)
            }
            _ = await bgtask("cancel", "tree.hash", socket: socket)
            #expect(host.asked.last == "cancel com.example.tree.hash")
            _ = await bgtask("settings", "dismiss", "photos", socket: socket)
            #expect(host.asked.last?.hasPrefix("change com.example.photos") == true, "\(host.asked)")
        }
    }

    /// Its manifest was removed, and another task's identifier ends with it.
    @Test func `a whole identifier that the host knows from a request is no short form`() async throws {
        try await serving(host()) { host, socket in
            let waiting = ScriptedHost.request(
                TaskSubmission(identifier: try TaskIdentifier("tree.hash"), origin: .client))
            host.edit { $0.pending = [PendingRequest(request: waiting, verdicts: [])] }
            _ = await bgtask("cancel", "tree.hash", socket: socket)
            #expect(host.asked.last == "cancel tree.hash")
        }
    }

    @Test func `a short form of more than one task is refused with all of them`() async throws {
        try await serving(host()) { host, socket in
            let result = await bgtask("submit", "hash", socket: socket)
            #expect(result.status == 4, "\(result)")
            #expect(
                result.errors.contains(
                    "short for 2 tasks: com.example.photos.hash, com.example.tree.hash"), "\(result)")
            #expect(host.script.withLock { $0.submissions.isEmpty })
        }
    }

    @Test func `a refused name comes with the one that the user probably meant`() async throws {
        try await serving(host()) { host, socket in
            host.edit {
                $0.refusal = SubmissionError(
                    code: .notPermitted, subject: "com.example.tree.wlak",
                    finding: "no manifest permits it", remedy: "Check its spelling")
            }
            let result = await bgtask("submit", "com.example.tree.wlak", socket: socket)
            #expect(result.status == 4, "\(result)")
            #expect(result.errors.contains("Did you mean 'com.example.tree.walk'? Check"), "\(result)")
        }
    }

    @Test(arguments: [("wlak", "walk"), ("tree.wlak", "walk"), ("wal", nil)])
    func `a misspelled short form comes with the task that it probably means`(word: String, last: String?)
        async throws
    {
        try await serving(host()) { host, socket in
            host.edit {
                $0.refusal = SubmissionError(
                    code: .notPermitted, subject: word, finding: "no manifest permits it",
                    remedy: "Check its spelling")
                $0.showsLaunchesAnyway = true
            }
            let result = await bgtask("submit", word, socket: socket)
            let hint = last.map { "Did you mean 'com.example.tree.\($0)'? Check" }
            #expect(hint.map(result.errors.contains) ?? !result.errors.contains("Did you mean"), "\(result)")
        }
    }

    @Test(arguments: [["launches", "--identifier", "wlak"], ["logs", "wlak"], ["show", "wlak"]])
    func `a name that no task has is named, with the one that the user probably meant`(arguments: [String])
        async throws
    {
        try await serving(host()) { _, socket in
            let result = await bgtask(arguments + ["--socket", socket])
            #expect(result.status == 4, "\(result)")
            #expect(result.errors.contains("wlak: no manifest has a task of this name"), "\(result)")
            #expect(result.errors.contains("Did you mean 'com.example.tree.walk'?"), "\(result)")
        }
    }

    @Test func `a task without launches is no unknown name`() async throws {
        try await serving(host()) { _, socket in
            let list = await bgtask("launches", "--identifier", "walk", socket: socket)
            #expect(list.status == 0 && list.output.contains("no such launch"), "\(list)")
            let shown = await bgtask("show", "walk", socket: socket)
            #expect(shown.status == 4 && !shown.errors.contains("no manifest"), "\(shown)")
        }
    }

    @Test func `a number means the launch, and - the newest one`() async throws {
        try await serving(host()) { host, socket in
            let request = ScriptedHost.request(
                TaskSubmission(identifier: try TaskIdentifier("com.example.tree.walk"), origin: .client))
            host.edit { $0.launches = [ScriptedHost.record(request, id: 43)] }
            for word in ["43", "L43", "-"] {
                let result = await bgtask("show", word, "--json", socket: socket)
                #expect(result.status == 0, "\(result)")
                let launch = result.object["launch"]
                #expect(
                    launch as? String == "L43" || (launch as? [String: Any])?["launch"] as? String == "L43",
                    "\(result)")
            }
            let missing = await bgtask("show", "44", socket: socket)
            #expect(missing.status == 4 && missing.errors.contains("L44"), "\(missing)")
            // L43 runs, and R43 does not wait.
            _ = await bgtask("cancel", "43", socket: socket)
            #expect(host.asked.last == "cancel L43")
            let dead = await bgtask("cancel", "44", socket: socket)
            #expect(dead.status == 4 && dead.errors.contains("no launch L44 runs"), "\(dead)")
        }
    }

    @Test func `completion offers the names that the host knows`() async throws {
        try await serving(host()) { host, socket in
            let environment = ["BGTASK_SOCKET": socket]
            func offered(_ arguments: String..., prefix: String) async -> [Substring] {
                // The arguments with which a completion script calls the program.
                await bgtask(
                    ["---completion"] + arguments + ["1", "\(prefix.count)", prefix], environment: environment
                ).output.split(separator: "\n")
            }
            #expect(
                await offered("submit", "--", "positional@0", prefix: "com.example.p")
                    == ["com.example.photos", "com.example.photos.export.", "com.example.photos.hash"])
            #expect(
                await offered("used", "--", "positional@0", prefix: "")
                    == ["com.example.photos", "com.example.tree"])
        }
    }
}
