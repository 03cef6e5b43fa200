import HandlerRegistry
import TaskHostTestSupport
import TaskModel
import Testing

/// Pushes whose `aps` makes them visible are notifications for a user, so no task gets them.
@Suite struct SilentPushTests {
    private func check(_ payload: String?, kind: TaskKind = .push) throws {
        let declaration = TaskDeclaration(pattern: try IdentifierPattern("com.example.a.push"), kind: kind)
        let manifest = Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "libA.so", modes: [.remoteNotification],
            tasks: [declaration], sandbox: SandboxDeclaration())
        try manifest.checkPayload(
            payload, for: TaskIdentifier("com.example.a.push"), dataDirectory: nil)
    }

    @Test(arguments: [
        nil, "{}", #"{"unread": 3}"#, #"{"aps": {"content-available": 1}, "unread": 3}"#,
        #"{"aps": {"content-available": 1, "alert": "And an alert"}}"#, #"{"aps": null}"#,
    ])
    func `a silent push is taken`(payload: String?) throws { try check(payload) }

    @Test(arguments: [
        #"{"aps": {}}"#, #"{"aps": {"alert": "Hello"}}"#, #"{"aps": {"content-available": 0}}"#,
        #"{"aps": {"content-available": "1"}}"#, #"{"aps": 1}"#,
    ])
    func `any other is refused, and what makes it silent is said`(payload: String) throws {
        let error = try #require(throws: SubmissionError.self) { try check(payload) }
        #expect(error.code == .invalidRequest)
        #expect(error.finding.contains("\"content-available\": 1"))
        #expect(error.remedy == "Add \"content-available\": 1 to \"aps\", or leave \"aps\" out")
    }

    private static func manifest(_ kind: String, _ keys: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [remote-notification, processing]
        tasks:
          - identifier: com.example.a.push
            kind: \(kind)
            payload: \(keys)
            command:
              run: [/bin/echo, "${payload.branch}"]

        """
    }

    @Test func `aps is the envelope of a push, and no key that a task must declare`() throws {
        func check(_ kind: String, _ payload: String) throws {
            let folder = try TemporaryFolder()
            try folder.write("data/m.yaml", Self.manifest(kind, "{branch: string}"))
            let manifest = ManifestLinter.manifest(in: "\(folder.path)/data/m.yaml")
            try #require(manifest).checkPayload(
                payload, for: TaskIdentifier("com.example.a.push"), dataDirectory: nil)
        }
        let pushed = #"{"aps": {"content-available": 1}, "branch": "main"}"#
        try check("push", pushed)
        let other = try #require(throws: SubmissionError.self) { try check("processing", pushed) }
        #expect(other.finding.contains("no key 'aps'"))
        let missing = try #require(throws: SubmissionError.self) {
            try check("push", #"{"aps": {"content-available": 1}}"#)
        }
        #expect(
            missing.remedy == #"Push it with the payload '{"aps": {"content-available": 1}, "branch": ...}'"#)
        let more = try #require(throws: SubmissionError.self) {
            try check("push", #"{"branch": "", "x": 1}"#)
        }
        #expect(more.finding.contains("no key 'x'"))
    }

    @Test(arguments: ["aps", "unifiedPush"])
    func `a push that needs a key that no push can have is a warning`(key: String) throws {
        let folder = try TemporaryFolder()
        for (kind, count) in [("push", 1), ("processing", 0)] {
            try folder.write("data/m.yaml", Self.manifest(kind, "{branch: string, \(key): string}"))
            let problems = ManifestLinter.lint(
                files: ["\(folder.path)/data/m.yaml"], pluginsDirectory: nil
            ).filter {
                $0.finding.contains("'\(key)'")
            }
            #expect(problems.count == count, "\(problems)")
        }
    }

    @Test func `the payload of another kind may have an aps`() throws {
        try check(#"{"aps": {"alert": "Hello"}}"#, kind: .transferEvents)
    }
}
