import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// The behaviour that every store must have for submissions and requests.
@Suite struct RequestConformanceTests {
    @Test(arguments: StoreUnderTest.allCases)
    func `an accepted request comes back with everything that was asked`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var asked = try submission(key: "k", origin: .handler)
            asked.earliestBeginDate = now + .seconds(30)
            asked.requiresExternalPower = true
            asked.requiresNetworkConnectivity = true
            asked.network = .unmetered
            asked.requiresGPU = true
            asked.payload = #"{"a": "'; DROP TABLE requests; --"}"#
            asked.title = "Title \u{1B}[31m\nsecond line\u{0}end"
            asked.subtitle = "\u{202E}ünïcode 🚀"
            asked.strategy = .fail

            let accepted = try await store.accept(asked)

            #expect(accepted.request.submission == asked)
            #expect(accepted.request.attempt == 1)
            #expect(accepted.request.submittedAt == now)
            #expect(accepted.request.deadline == deadline)
            #expect(!accepted.isRepeat)
            #expect(try await store.pendingRequests() == [accepted.request])
            #expect(try await store.request(accepted.request.id)?.state == .pending)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a second submission of an identifier replaces the pending one, which ends as cancelled`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var asked = try submission()
            asked.payload = #"{"root": "/srv"}"#
            let first = try await store.accept(asked).request
            let second = try await store.accept(submission())

            #expect(second.replaced == first)
            #expect(second.request.id > first.id)
            #expect(try await store.pendingRequests() == [second.request])
            let old = try #require(await store.request(first.id))
            #expect(old.state == .done)
            #expect(old.outcome == .cancelled)
            #expect(old.reason == .replaced)
            #expect(old.replacedBy == second.request.id)
            #expect(old.request.submission.payload == nil, "a client may replace a request many times")
            #expect(old.endedAt == now)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a push of priority 5 does not replace one of priority 10, and 10 replaces both`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var push = try submission()
            push.pushPriority = .immediate
            let first = try await store.accept(push, kind: .push).request
            push.pushPriority = .considerate
            let refused = push
            await #expect(throws: SubmissionError.moreUrgentWaits(push.identifier, first.id)) {
                try await store.accept(refused, kind: .push)
            }
            #expect(try await store.pendingRequests() == [first])
            push.pushPriority = .immediate
            #expect(try await store.accept(push, kind: .push).replaced == first)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a schedule's submission replaces its own and never what a client asked for`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let first = try await store.accept(submission(origin: .schedule)).request
            let second = try await store.accept(submission(origin: .schedule))
            #expect(second.replaced == first)

            let client = try await store.accept(submission()).request
            let third = try await store.accept(submission(origin: .schedule))
            #expect(third.isRepeat)
            #expect(third.request == client)
            #expect(try await store.pendingRequests() == [client])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the same key returns the same request, while pending, after it ran and after it was replaced`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let first = try await store.accept(submission(key: "k")).request
            #expect(
                try await store.accept(submission(key: "k"))
                    == Acceptance(
                        request: first, state: .pending, isRepeat: true, replaced: nil))

            try await store.accept(submission(key: "other"))
            let replaced = try await store.accept(submission(key: "k"))
            #expect(replaced.request == first)
            #expect(replaced.state == .done)
            #expect(replaced.isRepeat)

            let second = try await store.accept(submission("com.example.b", key: "k")).request
            #expect(second.id != first.id, "a key counts for its identifier alone")
            try await store.end(store.begin(second.id).id)
            let repeated = try await store.accept(submission("com.example.b", key: "k"))
            #expect(repeated.request == second)
            #expect(repeated.state == .done)

            #expect(try await store.request(first.identifier, key: "k")?.request.id == first.id)
            #expect(try await store.request(second.identifier, key: "k")?.request.id == second.id)
            #expect(try await store.request(second.identifier, key: "other") == nil)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func
        `the limit counts the bundle's pending requests of the kind, without the schedule's and the replaced one`(
            kind: StoreUnderTest
        ) async throws
    {
        try await kind.with { store in
            try await store.accept(submission("com.example.s", origin: .schedule), limit: 2)
            try await store.accept(submission("com.example.r"), kind: .appRefresh, limit: 2)
            try await store.accept(submission("com.example.a"), limit: 2)
            try await store.accept(submission("com.example.b"), limit: 2)
            try await store.accept(submission("com.example.b"), limit: 2)
            try await store.accept(submission("com.example.t", origin: .schedule), limit: 2)
            let error = await #expect(throws: SubmissionError.self) {
                try await store.accept(submission("com.example.c"), limit: 2)
            }
            #expect(error?.code == .tooManyPendingTaskRequests)
            #expect(error?.finding.contains("the limit is 2") == true)

            let launched = try #require(
                await store.pendingRequests().first { $0.identifier.rawValue.hasSuffix("a") })
            _ = try await store.begin(launched.id)
            try await store.accept(submission("com.example.c"), limit: 2)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a pending request is cancelled once, a launched one not at all`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let first = try await store.accept(submission()).request
            #expect(try await store.cancelPending(first.id, at: later, reason: .manifestRemoved))
            #expect(try await !store.cancelPending(first.id, at: later))
            let record = try #require(await store.request(first.id))
            #expect(record.outcome == .cancelled)
            #expect(record.reason == .manifestRemoved)
            #expect(record.endedAt == later)
            #expect(try await store.pendingRequests().isEmpty)

            let second = try await store.accept(submission()).request
            _ = try await store.begin(second.id)
            #expect(try await !store.cancelPending(second.id, at: later))
            #expect(try await !store.cancelPending(RequestID(rawValue: 999), at: later))
        }
    }
}
