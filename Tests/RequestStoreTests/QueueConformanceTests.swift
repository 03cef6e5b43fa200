import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// What every store keeps of queues.
@Suite struct QueueConformanceTests {
    private func accept(
        _ store: any RequestStore, _ priority: Int? = nil, key: String? = nil, unique: Duration? = nil,
        at time: WallTime = now
    ) async throws -> Acceptance {
        var submission = try submission(key: key)
        submission.priority = priority
        var terms = RequestTerms(
            bundle: try BundleIdentifier("com.example"), kind: .processing, acceptedAt: time,
            deadline: deadline, pendingLimit: 1)
        terms.queue = QueueTerms(unique: unique)
        let answers = try await store.commit([.accept(submission, terms)])
        guard case .success(.accepted(let acceptance)) = try #require(answers.first) else {
            throw SubmissionError(code: .invalidRequest, subject: "", finding: "refused", remedy: "")
        }
        return acceptance
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `requests of a queue replace none, come back with their priorities, and are put back beside others`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let first = try await accept(store, 3).request
            let second = try await accept(store).request
            let plain = try await store.accept(submission("com.example.a.plain"), limit: 1).request
            #expect(first.isQueued && !plain.isQueued && first.submission.priority == 3)
            #expect(try await store.pendingRequests() == [first, second, plain])
            let launch = try await store.begin(first.id)
            let other = try await store.begin(second.id)
            #expect(launch.id != other.id)
            let third = try await accept(store).request
            let back = try await store.endLaunch(
                launch.id, LaunchEnd(outcome: .failed, reason: .handlerFailed), at: later, cpuTime: .zero,
                cpuIsLowerBound: false, peakMemory: nil, progress: nil,
                putBack: PutBack(notBefore: nil, isRetry: true, attempts: AttemptHistory()))
            #expect(back?.id == first.id && back?.isQueued == true && back?.attempt == 2)
            #expect(try await store.pendingRequests().map(\.id) == [first.id, plain.id, third.id])
            #expect(try await store.cancelPending(third.id, at: later, reason: .cancelledByUser))
            #expect(try await store.pendingRequests().map(\.id) == [first.id, plain.id])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a key is free again when its request has ended, or some time later`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let first = try await accept(store, key: "k")
            #expect(!first.isRepeat)
            let second = try await accept(store, key: "k")
            #expect(second.isRepeat && second.request == first.request)
            #expect(try await store.cancelPending(first.request.id, at: later, reason: .cancelledByUser))
            let unique = Duration.seconds(60)
            #expect(try await accept(store, key: "k", unique: unique, at: later + .seconds(59)).isRepeat)
            let third = try await accept(store, key: "k", unique: unique, at: later + .seconds(60))
            #expect(!third.isRepeat && third.request.id != first.request.id)
            #expect(try await accept(store, key: "k").isRepeat)
        }
    }
}
