import HandlerRegistry
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

    @Test func `the payload of another kind may have an aps`() throws {
        try check(#"{"aps": {"alert": "Hello"}}"#, kind: .transferEvents)
    }
}
