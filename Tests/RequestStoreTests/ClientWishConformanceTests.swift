import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// What every store keeps of a client's wishes: deadlines, tags, and which request comes after which.
@Suite struct ClientWishConformanceTests {
    private func submission(_ rule: PendingRule) throws -> TaskSubmission {
        var submission = try plain("com.example.a")
        submission.ifPending = rule
        return submission
    }

    private func plain(_ identifier: String) throws -> TaskSubmission {
        TaskSubmission(identifier: try TaskIdentifier(identifier), origin: .client)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a deadline and tags come back, and the launches have the tags`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var asked = try submission(.replace)
            asked.startDeadline = StartDeadline(date: later, action: .start)
            asked.tags = [try Tag("backup"), try Tag("x-1")]
            let request = try await store.accept(asked).request
            #expect(request.submission == asked)
            #expect(try await store.pendingRequests() == [request])
            let launch = try await store.begin(request.id)
            #expect(launch.tags == asked.tags)
            let other = try await store.begin(store.accept(plain("com.example.b")).request.id)
            #expect(other.tags == [])
            func found(_ tag: String, _ identifier: String? = nil) async throws -> [LaunchID] {
                try await store.launches(
                    LaunchFilter(identifier: identifier.map { try TaskIdentifier($0) }, tag: Tag(tag)),
                    limit: 9,
                    before: nil
                ).map(\.id)
            }
            #expect(try await found("backup") == [launch.id])
            #expect(try await found("backup", "com.example.a") == [launch.id])
            #expect(try await found("backup", "com.example.b") == [])
            #expect(try await found("back") == [])
            #expect(try await found("x-1") == [launch.id])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a request whose deadline passed has failed, and was not cancelled`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let request = try await store.accept(submission(.replace)).request
            #expect(try await store.cancelPending(request.id, at: later, reason: .deadlinePassed))
            let record = try #require(await store.request(request.id))
            #expect(record.outcome == .failed && record.reason == .deadlinePassed)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `keep leaves the pending request, and accepts a new one when there is none`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let first = try await store.accept(submission(.keep))
            #expect(!first.isKept && !first.isRepeat)
            let second = try await store.accept(submission(.keep))
            #expect(second.isKept && second.request == first.request && second.replaced == nil)
            _ = try await store.begin(first.request.id)
            #expect(try await !store.accept(submission(.keep)).isKept)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `append waits for the pending request through its put-backs, and one more is refused`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            #expect(try await store.accept(submission(.append)).request.after == nil)
            let first = try #require(await store.pendingRequests().first)
            let next = try await store.accept(submission(.append)).request
            #expect(next.after == first.id)
            let refused = await #expect(throws: SubmissionError.self) {
                try await store.accept(submission(.append))
            }
            #expect(refused?.code == .tooManyPendingTaskRequests)
            // The first request has not ended while it is only put back for another attempt.
            let launch = try await store.begin(first.id)
            let back = try await store.end(launch.id, .expired, .paused, putBack: PutBack(notBefore: nil))
            #expect(back?.id == first.id)
            #expect(try await store.request(next.id)?.request.after == first.id)
            let again = try await store.begin(first.id)
            #expect(try await store.end(again.id) == nil)
            #expect(try await store.pendingRequests().map(\.id) == [next.id])
            #expect(try await store.pendingRequests().first?.after == nil)
            _ = try await store.begin(next.id)
            // While the second request runs, a third one can be appended to it.
            #expect(try await store.accept(submission(.append)).request.after == next.id)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a request that replaces the first comes before the appended one, and a cancellation frees it`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let first = try await store.accept(submission(.replace)).request
            let next = try await store.accept(submission(.append)).request
            let newer = try await store.accept(submission(.replace))
            #expect(newer.replaced == first)
            #expect(try await store.request(next.id)?.request.after == newer.request.id)
            #expect(try await store.cancelPending(newer.request.id, at: later))
            #expect(try await store.request(next.id)?.request.after == nil)
            #expect(try await store.pendingRequests().map(\.id) == [next.id])
            #expect(try await store.cancelPending(next.id, at: later))
            #expect(try await store.pendingRequests().isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a lost launch frees the request that waited for it, when the next host starts`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let first = try await store.accept(submission(.replace)).request
            _ = try await store.begin(first.id)
            let next = try await store.accept(submission(.append)).request
            #expect(next.after == first.id)
            let terms = RecoveryTerms(
                at: later, isAtMostOnce: { _, _ in true }, backOff: { _, _ in later }, attemptLimit: 8,
                scheduled: [])
            let recovery = try await store.recover(terms)
            #expect(recovery.putBack.isEmpty)
            #expect(recovery.pending.map(\.id) == [next.id])
            #expect(recovery.pending.first?.after == nil)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a pause of the host and one of a bundle are facts`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let pause = Pause(since: now, until: later)
            await store.remember(.pause(pause))
            var state = BundleState()
            state.pause = Pause(since: now, until: nil)
            state.budget.burst = 0.5
            let bundle = try BundleIdentifier("com.example")
            await store.remember(.bundleState(bundle, state))
            #expect(try await store.facts().pause == pause)
            #expect(try await store.facts().bundleStates[bundle] == state)
            await store.remember(.pause(nil))
            #expect(try await store.facts().pause == nil)
            #expect(try await store.facts().unreadable == [])
        }
    }
}
