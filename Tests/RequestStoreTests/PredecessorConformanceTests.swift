import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// What every store keeps of requests that wait for the success of others.
@Suite struct PredecessorConformanceTests {
    private func accept(
        _ store: any RequestStore, _ name: String, after: [TaskRequest] = []
    ) async throws -> TaskRequest {
        var submission = try submission("com.example.a.\(name)")
        submission.predecessors = after.map(\.id)
        return try await store.accept(submission).request
    }

    private func finish(
        _ request: TaskRequest, _ outcome: Outcome, in store: any RequestStore
    ) async throws {
        let launch = try await store.begin(request.id)
        try await store.end(launch.id, outcome, outcome == .succeeded ? nil : .handlerFailed, at: later)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the success of each predecessor is fulfilled in the write that ends it`(kind: StoreUnderTest)
        async throws
    {
        try await kind.with { store in
            let first = try await accept(store, "first")
            let second = try await accept(store, "second")
            let join = try await accept(store, "join", after: [second, first])
            #expect(join.submission.predecessors == [first.id, second.id])
            #expect(join.openPredecessors == [first.id, second.id])
            #expect(try await store.pendingRequests() == [first, second, join])
            try await finish(second, .succeeded, in: store)
            #expect(try await store.request(join.id)?.request.openPredecessors == [first.id])
            try await finish(first, .succeeded, in: store)
            let free = try #require(try await store.request(join.id)?.request)
            #expect(free.openPredecessors == [] && free.submission.predecessors.count == 2)
            #expect(try await accept(store, "next", after: [first]).openPredecessors == [])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a failure ends all that wait for it, however long the chain, and keeps what they waited for`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            var chain = [try await accept(store, "first")]
            for number in 1...20 {
                chain.append(try await accept(store, "n\(number)", after: [chain[number - 1]]))
            }
            #expect(try await store.cancelPending(chain[7].id, at: later, reason: .cancelledByUser))
            #expect(try await store.pendingRequests() == Array(chain.prefix(7)))
            try await finish(chain[0], .failed, in: store)
            #expect(try await store.pendingRequests() == [])
            for request in chain[8...] {
                let record = try #require(try await store.request(request.id))
                #expect(record.outcome == .failed && record.reason == .predecessorFailed)
                #expect(record.request.openPredecessors == request.submission.predecessors)
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a refusal leaves nothing behind, not even the end of the request that it would replace`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            let first = try await accept(store, "first")
            let join = try await accept(store, "join")
            let other = try await accept(store, "other", after: [join])
            // The new request would replace the one that the named request waits for.
            await #expect(throws: (any Error).self) { try await accept(store, "join", after: [other]) }
            await #expect(throws: (any Error).self) { try await accept(store, "first", after: [first]) }
            #expect(try await store.pendingRequests() == [first, join, other])
        }
    }
}
