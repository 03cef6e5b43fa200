import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// `--wait`, with a host that plays the life of a request.
@Suite(.system, .timeLimit(.minutes(2))) struct WaitTests {
    @Sendable private static func expired(_ host: ScriptedHost, _ request: TaskRequest) {
        host.send(.launchStarted(ScriptedHost.record(request)))
        host.send(.launchReady(LaunchID(rawValue: 42), request.id, at: ScriptedHost.start))
        host.send(
            .progress(
                LaunchID(rawValue: 42), request.id, TaskProgress(completed: 9, total: 20, message: "nine")))
        host.send(.launchExpiring(LaunchID(rawValue: 42), request.id, .leaseEnded))
        let again = ScriptedHost.request(request.submission, attempt: 2)
        host.send(.launchEnded(ScriptedHost.ended(request, .expired, .leaseEnded), putBack: again))
    }

    @Sendable private static func end(
        _ host: ScriptedHost, _ request: TaskRequest, _ outcome: Outcome, _ reason: Reason?
    ) {
        let again = ScriptedHost.request(request.submission, attempt: 2)
        host.send(.launchStarted(ScriptedHost.record(again, id: 43)))
        host.send(.launchEnded(ScriptedHost.ended(again, id: 43, outcome, reason), putBack: nil))
    }

    @Test func `it follows a request that is put back to its last attempt, in plain lines`() async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, request in
                    Self.expired(host, request)
                    Self.end(host, request, .succeeded, nil)
                }
            }
            let result = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(
                result.output.split(separator: "\n") == [
                    "R17 org.example.a is pending (processing)", "L42 has started (attempt 1, cgroup)",
                    "L42 runs",
                    "45 % 9/20 nine", "The host asked L42 to stop: leaseEnded",
                    "L42 expired (leaseEnded) after 1.2 s, 812 ms CPU", "R17 is pending again (attempt 2)",
                    "L43 has started (attempt 2, cgroup)", "45 % 9/20 nine",
                    "L43 succeeded after 1.2 s, 812 ms CPU",
                ])
        }
    }

    @Test func `a title that the handler sets is told, and an empty one not`() async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, request in
                    let launch = LaunchID(rawValue: 42)
                    host.send(.launchStarted(ScriptedHost.record(request)))
                    host.send(.titleChanged(launch, request.id, title: "", subtitle: ""))
                    host.send(.titleChanged(launch, request.id, title: "Exporting", subtitle: "7 of 12"))
                    host.send(.launchEnded(ScriptedHost.ended(request, .succeeded, nil), putBack: nil))
                }
            }
            let result = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(
                result.output.split(separator: "\n").dropFirst() == [
                    "L42 has started (attempt 1, cgroup)", "Exporting: 7 of 12", "45 % 9/20 nine",
                    "L42 succeeded after 1.2 s, 812 ms CPU",
                ])
        }
    }

    @Test(arguments: [Outcome.failed, .expired, .killed, .crashed, .lost, .cancelled])
    func `any outcome but succeeded exits 1, and JSON names it`(outcome: Outcome) async throws {
        try await serving { host, socket in
            host.edit { $0.onSubmit = { Self.end($0, $1, outcome, .simulated) } }
            let result = await bgtask("submit", "org.example.a", "--wait", "--json", socket: socket)
            #expect(result.status == 1, "\(result)")
            #expect(result.object["outcome"] as? String == outcome.rawValue)
            #expect(result.object["reason"] as? String == "simulated")
            #expect((result.object["launch"] as? [String: Any])?["launch"] as? String == "L43")
        }
    }

    @Test func `when nothing starts it says what blocks and how to launch all the same`() async throws {
        try await serving { host, socket in
            let verdict = Verdict(
                policy: "Network", decision: .mustNotProceed, score: 0, weight: 1,
                rationale: [Rationale(quantity: "network", required: "connected", observed: "not connected")])
            host.edit {
                $0.onSubmit = { host, request in
                    host.edit { $0.pending = [PendingRequest(request: request, verdicts: [verdict])] }
                }
                // The command lists pending requests only because a second has passed without a launch.
                $0.onPending = { host in
                    guard let request = host.script.withLock({ $0.pending.first?.request }) else { return }
                    host.send(.requestCancelled(request.id, request.identifier, .cancelledByUser))
                }
            }
            let result = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(result.status == 1, "\(result)")
            #expect(
                result.output.contains(
                    "R17 waits: Network: The network is not connected; it must be connected"),
                "\(result)")
            #expect(result.output.contains("bgtask launch org.example.a"), "\(result)")
            #expect(result.output.contains("R17 is cancelled: cancelledByUser"), "\(result)")
        }
    }

    @Test func `a host that stops meanwhile exits 3 and says that the request is stored`() async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, _ in
                    host.send(.hostStopping)
                    host.endEvents()
                }
            }
            let result = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(result.status == 3 && result.errors.contains("R17 stays stored"), "\(result)")
        }
    }

    @Test func `a key whose request ran already gives its outcome at once`() async throws {
        try await serving { host, socket in
            let identifier = try TaskIdentifier("org.example.a")
            let request = ScriptedHost.request(TaskSubmission(identifier: identifier, origin: .client))
            host.edit { $0.launches = [ScriptedHost.ended(request, .failed, .handlerFailed)] }
            let result = await bgtask("submit", "org.example.a", "--wait", "--key", "k", socket: socket)
            #expect(result.status == 1 && result.output.contains("L42 failed (handlerFailed)"), "\(result)")
        }
    }

    @Test func `a simulated launch can be waited for`() async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSimulate = { host, record in
                    let request = ScriptedHost.request(
                        TaskSubmission(identifier: record.identifier, origin: .simulated))
                    host.send(.launchEnded(ScriptedHost.ended(request, .succeeded, nil), putBack: nil))
                }
            }
            let result = await bgtask("launch", "org.example.a", "--wait", socket: socket)
            #expect(result.status == 0 && result.output.contains("L42 succeeded after 1.2 s"), "\(result)")
        }
    }

    @Test(arguments: [true, false])
    func `a request that a newer one replaces ends with the number of the newer one`(isPending: Bool)
        async throws
    {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, request in
                    let newer = ScriptedHost.request(request.submission, id: 22)
                    host.edit {
                        if isPending {
                            $0.pending = [PendingRequest(request: newer, verdicts: [])]
                        } else {
                            $0.launches = [ScriptedHost.record(newer, id: 50)]
                        }
                    }
                    host.send(.requestCancelled(request.id, request.identifier, .replaced))
                    host.send(.requestAccepted(newer))
                }
            }
            let plain = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(plain.status == 1, "\(plain)")
            #expect(plain.output.hasSuffix("\nR17 was replaced by R22\n"), "\(plain)")
            let json = await bgtask("submit", "org.example.a", "--wait", "--json", socket: socket)
            #expect(json.status == 1 && json.object["reason"] as? String == "replaced", "\(json)")
            #expect(json.object["replacedBy"] as? String == "R22")
        }
    }

    @Test func `a request is replaced by the next one, even if that one is replaced too`() async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, request in
                    let (next, last) = (
                        ScriptedHost.request(request.submission, id: 18),
                        ScriptedHost.request(request.submission, id: 19)
                    )
                    // When the command lists requests, the second one has already been replaced.
                    host.edit { $0.pending = [PendingRequest(request: last, verdicts: [])] }
                    for (older, newer) in [(request, next), (next, last)] {
                        host.send(.requestCancelled(older.id, older.identifier, .replaced))
                        host.send(.requestAccepted(newer))
                    }
                }
            }
            let plain = await bgtask("submit", "org.example.a", "--wait", socket: socket)
            #expect(plain.output.hasSuffix("\nR17 was replaced by R18\n"), "\(plain)")
        }
    }

    @Test func `a repeat with the same key says that nothing was changed`() async throws {
        try await serving { host, socket in
            host.edit { $0.isRepeat = true }
            let plain = await bgtask(
                "submit", "org.example.a", "--key", "K", "--earliest", "2h", socket: socket)
            #expect(
                plain.output
                    == "R17 org.example.a was submitted before with this key. Nothing was changed\n")
            let json = await bgtask("submit", "org.example.a", "--key", "K", "--json", socket: socket)
            #expect(json.object["isRepeat"] as? Bool == true, "\(json)")
        }
    }

    /// The host that answers: it has a request R17 that failed before it was launched.
    private static func endBefore(_ host: ScriptedHost) throws {
        var record = RequestRecord(
            request: ScriptedHost.request(
                TaskSubmission(identifier: try TaskIdentifier("org.example.a"), origin: .client)),
            state: .done)
        (record.outcome, record.reason, record.endedAt) = (.failed, .deadlinePassed, ScriptedHost.start)
        host.edit {
            $0.isRepeat = true
            $0.ended = [record]
        }
    }

    @Test func `a repeat with the key of a request that has ended says how it ended, and does not wait`()
        async throws
    {
        try await serving { host, socket in
            try Self.endBefore(host)
            let plain = await bgtask("submit", "org.example.a", "--key", "K", socket: socket)
            #expect(
                plain.output
                    == "R17 org.example.a was submitted before with this key, and has ended "
                    + "(failed, deadlinePassed). Nothing was submitted. To see it: bgtask show R17. To run "
                    + "the task again, use another key\n")
            let waited = await bgtask("submit", "org.example.a", "--key", "K", "--wait", socket: socket)
            #expect(waited.output.hasSuffix("R17 failed (deadlinePassed)\n"), "\(waited)")
            #expect(waited.status == 1)
        }
    }

    @Test func `show shows a request after its end`() async throws {
        try await serving { host, socket in
            try Self.endBefore(host)
            let plain = await bgtask("show", "R17", socket: socket)
            #expect(plain.output.contains("outcome       failed\nreason        deadlinePassed\n"), "\(plain)")
            let json = await bgtask("show", "R17", "--json", socket: socket)
            #expect(json.object["state"] as? String == "done", "\(json)")
            let none = await bgtask("show", "R18", socket: socket)
            #expect(none.status != 0)
        }
    }

    @Test func `the answer to a submission says which request it replaces`() async throws {
        try await serving { host, socket in
            host.edit { $0.replaces = RequestID(rawValue: 12) }
            let plain = await bgtask("submit", "org.example.a", socket: socket)
            #expect(plain.output == "R17 org.example.a is pending (processing); it replaces R12\n")
            let json = await bgtask("submit", "org.example.a", "--json", socket: socket)
            #expect(json.object["replaces"] as? String == "R12")
            #expect(json.object["request"] as? String == "R17")
            host.edit { $0.replaces = nil }
            let none = await bgtask("submit", "org.example.a", "--json", socket: socket)
            #expect(none.object["replaces"] is NSNull, "\(none)")
        }
    }

    private static let hasScript = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    @Test(.enabled(if: hasScript, "needs script(1) for a terminal"), arguments: [true, false])
    func `a terminal shows a live bar, in colour unless NO_COLOR is set`(isColored: Bool) async throws {
        try await serving { host, socket in
            host.edit {
                $0.onSubmit = { host, request in
                    Self.expired(host, request)
                    Self.end(host, request, .succeeded, nil)
                }
                $0.launches = [
                    ScriptedHost.ended(
                        ScriptedHost.request(
                            TaskSubmission(
                                identifier: (try? TaskIdentifier("a.b")).unsafelyUnwrapped, origin: .client)),
                        .succeeded, nil)
                ]
            }
            let environment = isColored ? ["TERM": "xterm"] : ["TERM": "xterm", "NO_COLOR": "1"]
            let program = builtPrograms + "/bgtask"
            let wait = try await run(
                "/usr/bin/script",
                ["-qec", "\(program) submit org.example.a --wait --socket \(socket)", "/dev/null"],
                environment: environment)
            #expect(wait.status == 0 && wait.output.contains("\r\u{1B}[KL42 [####"), "\(wait)")
            let list = try await run(
                "/usr/bin/script", ["-qec", "\(program) launches --socket \(socket)", "/dev/null"],
                environment: environment)
            #expect(list.output.contains("\u{1B}[1m") == isColored, "\(list)")
        }
    }
}
