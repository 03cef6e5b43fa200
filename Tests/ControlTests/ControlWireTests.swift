import ControlChannel
import ControlWire
import Foundation
import TaskModel
import Testing

@Suite struct ControlWireTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (1_800_000_000_123, "2027-01-15T08:00:00.123Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    ])
    func `a timestamp is written in UTC with milliseconds and read back the same`(
        milliseconds: Int64, text: String
    ) {
        let time = WallTime(milliseconds: milliseconds)
        #expect(Timestamp(time).description == text)
        #expect(Timestamp(text)?.time == time)
    }

    @Test(arguments: [
        ("2027-01-15T09:00+01:00", Int64(1_800_000_000_000)), ("2027-01-15T08:00:00Z", 1_800_000_000_000),
        ("2027-01-15T08:00:00.1239Z", 1_800_000_000_123), ("1970-01-02", 86_400_000),
    ])
    func `a date may have an offset, no seconds, more digits or no time`(text: String, milliseconds: Int64) {
        #expect(Timestamp(text)?.time.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2027-02-30", "2027-02-30T08:00:00Z", "27-1-5T08:00:00Z", "2027-01-15T25:00:00Z", "2027-13-01",
        "2027-01-15T25:00Z", "2027-01-15T08:00", "2027-01-15T08:00Zx", "x",
    ])
    func `a text that is no date is refused`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `control characters and direction marks become visible`() {
        #expect(
            Printable.text("a\u{1B}[31mb\n\u{7}c\u{202E}d\u{9B}")
                == "a\\u{1b}[31mb\\n\\u{7}c\\u{202e}d\\u{9b}")
        #expect(Printable.text("Grüße ✓") == "Grüße ✓")
        #expect(Printable.text("abcdef", maximumLength: 3) == "abc…")
    }

    @Test func `events are found wherever the bytes are cut`() throws {
        let text = ": hello\n\nevent: a\ndata: {\"x\":1}\n\ndata: 1\r\ndata: 2\r\n\r\n"
        for size in 1...text.utf8.count {
            var decoder = EventStreamDecoder()
            var events: [EventStreamDecoder.Event] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                events += try decoder.decode(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(events.map(\.name) == ["a", "message"])
            #expect(events.map { String(decoding: $0.data, as: UTF8.self) } == ["{\"x\":1}", "1\n2"])
        }
    }

    @Test func `an event without end is an error and not a growing buffer`() {
        var decoder = EventStreamDecoder()
        let block = [UInt8](repeating: 0x61, count: 1 << 20)
        #expect(throws: EventStreamDecoder.TooLong.self) {
            for _ in 0...8 { _ = try decoder.decode(block) }
        }
    }

    @Test func `the socket's places come in the order that the documentation gives`() {
        let environment = ["BGTASK_SOCKET": "/b", "XDG_RUNTIME_DIR": "/x"]
        #expect(ControlSocketSearch.candidates(option: "/o", environment: environment) == ["/o"])
        #expect(ControlSocketSearch.candidates(option: nil, environment: environment) == ["/b"])
        #expect(
            ControlSocketSearch.candidates(option: nil, environment: ["XDG_RUNTIME_DIR": "/x"])
                == ["/x/bgtask/control.sock", "/run/bgtask/control.sock"])
        #expect(ControlSocketSearch.candidates(option: nil, environment: [:]) == ["/run/bgtask/control.sock"])
        // Without a runtime directory, a host of a user has its socket in the state directory.
        for (home, state) in [
            (["HOME": "/h"], "/h/.local/state"), (["HOME": "/h", "XDG_STATE_HOME": "/s"], "/s"),
        ] {
            #expect(
                ControlSocketSearch.candidates(option: nil, environment: home)
                    == [state + "/bgtask/control.sock", "/run/bgtask/control.sock"])
        }
    }

    @Test func `every event survives its JSON`() throws {
        let identifier = try TaskIdentifier("org.example.a")
        let request = ScriptedHost.request(TaskSubmission(identifier: identifier, origin: .client))
        let launch = ScriptedHost.ended(request, .expired, .leaseEnded)
        let verdict = Verdict(
            policy: "ExternalPower", decision: .mustNotProceed, score: 0, weight: 1,
            rationale: [
                Rationale(quantity: "externalPower", required: "connected", observed: "on battery 15 %")
            ])
        let events: [HostEvent] = [
            .requestAccepted(request), .requestBlocked(request, [verdict]),
            .requestCancelled(request.id, identifier, .cancelledByUser), .launchStarted(launch),
            .launchReady(launch.id, request.id, at: ScriptedHost.start),
            .progress(launch.id, request.id, TaskProgress(completed: 1, total: 2, message: "half")),
            .titleChanged(launch.id, request.id, title: "Export", subtitle: "7 of 12"),
            .launchAsked(launch.id, request.id, verdict.rationale[0]),
            .launchExpiring(launch.id, request.id, .thermal), .launchEnded(launch, putBack: request),
            .launchEnded(launch, putBack: nil),
            .transferChanged(
                ScriptedHost.transfer(
                    TransferRequest(
                        bundle: try BundleIdentifier("org.example"), direction: .upload, url: "http://a/b"))),
            .hostStopping,
        ]
        for event in events {
            let message = HostEventMessage(event)
            let line = try ControlJSON.line(message)
            #expect(try ControlJSON.decode(HostEventMessage.self, from: line) == message)
        }
    }

    @Test func `an event of a newer host is known to be unknown`() throws {
        let message = try ControlJSON.decode(
            HostEventMessage.self, from: Data(#"{"event":"hibernated"}"#.utf8))
        #expect(message == .unknown("hibernated"))
    }

    @Test func `a reason that no version knows is an error with its place`() {
        let body = Data(#"{"target":"L1","reason":"boredom"}"#.utf8)
        #expect {
            try ControlJSON.decode(ExpireMessage.self, from: body)
        } throws: {
            ControlJSON.sentence(of: $0).contains("'reason'")
        }
    }

    @Test func `the valid keys of every body are those of its type`() throws {
        func keys(_ type: (some Decodable).Type) throws -> [String] {
            try #require(MessageKeys(of: type)).names
        }
        #expect(
            try keys(SubmissionMessage.self) == [
                "identifier", "earliestBeginDate", "requiresExternalPower", "requiresNetworkConnectivity",
                "network", "payload", "title", "subtitle", "strategy", "requiresGPU", "idempotencyKey",
                "deadline", "atDeadline", "ifPending", "tags", "priority", "afterSuccessOf", "kind",
            ])
        #expect(try keys(CancelMessage.self) == ["target", "tag"])
        #expect(try keys(ExpireMessage.self) == ["target", "reason"])
        #expect(try keys(SimulationMessage.self) == ["identifier", "debug", "learn", "payload"])
        #expect(try keys(PushMessage.self) == ["bundle", "payload", "priority"])
        #expect(try keys(AnswerMessage.self) == ["keepGoing"])
        #expect(try keys(ConditionSettingsMessage.self) == ["settings"])
        #expect(try keys(ClientProgressMessage.self) == ["completed", "total", "message"])
        #expect(try keys(ClientCompletionMessage.self) == ["success", "message"])
        #expect(try keys(ClientCheckpointMessage.self) == ["checkpoint"])
        #expect(try keys(ClientTitleMessage.self) == ["title", "subtitle"])
        let change = try #require(MessageKeys(of: BundleChangeMessage.self))
        #expect(
            change.names == ["used", "foreground", "dismissed", "refresh", "budget", "paused", "resumed"])
        #expect(change.nested["budget"]?.names == ["launches", "cpuSeconds", "burst"])
        #expect(change.nested["paused"]?.names == ["until", "drain"])
        #expect(change.nested.count == 2)
        #expect(try keys(TransferRequestsMessage.self) == keys(TransferRequestMessage.self))
    }

    @Test func `the body of a transfer is an object or an array of objects`() throws {
        func decode(_ text: String) throws -> TransferRequestsMessage {
            try ControlJSON.decodeStrictly(TransferRequestsMessage.self, from: Data(text.utf8))
        }
        guard case .one(let request) = try decode(#"{"url": "http://a/b", "direction": "upload"}"#) else {
            Issue.record("an object is one request")
            return
        }
        #expect(request.direction == .upload)
        for (text, count) in [("[]", 0), (#"[{"url": "http://a/b"}, {"url": "http://a/c"}]"#, 2)] {
            guard case .several(let requests) = try decode(text) else {
                Issue.record("an array is several requests")
                return
            }
            #expect(requests.count == count)
        }
        for text in [#"{"url": "http://a/b", "sizes": 3}"#, #"[{"url": "http://a/b", "sizes": 3}]"#] {
            #expect(throws: UnknownKeyError.self) { try decode(text) }
        }
        for text in ["3", "null", #""x""#] { #expect(throws: DecodingError.self) { try decode(text) } }
    }

    @Test func `an answer of a newer host may have more keys, a request may not`() throws {
        let body = Data(#"{"target":"L1","because":"x"}"#.utf8)
        #expect(try ControlJSON.decode(CancelMessage.self, from: body).target == "L1")
        #expect(throws: UnknownKeyError(path: ["because"], validKeys: ["target", "tag"])) {
            try ControlJSON.decodeStrictly(CancelMessage.self, from: body)
        }
    }
}
