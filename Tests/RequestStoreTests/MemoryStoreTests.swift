import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// Features of the memory store that fault tests need and other stores lack: copies, and notes that get lost.
@Suite struct MemoryStoreTests {
    private func storeWithLaunch() throws -> (MemoryStore, LaunchID) {
        var store = MemoryStore()
        let terms = RequestTerms(
            bundle: try BundleIdentifier("com.example"), kind: .processing, acceptedAt: now,
            deadline: deadline, pendingLimit: nil)
        _ = store.apply(.accept(try submission(), terms))
        let launch = LaunchTerms(
            at: now, isolation: "cgroup", libraryHash: nil, isSimulated: false, explanation: nil)
        let answer = store.apply(.begin(try #require(store.pendingRequests.first).id, launch))
        guard case .success(.begun(let begun)) = answer else { throw StoreRefusal.submission(unexpected) }
        return (store, begun.record.id)
    }

    private var unexpected: SubmissionError {
        SubmissionError(code: .unavailable, subject: "test", finding: "no launch", remedy: "")
    }

    @Test func `notes are lost with the host, unless a write carried them`() throws {
        var (store, launch) = try storeWithLaunch()
        store.note(.ready(at: later), of: launch)
        store.note(.progress(TaskProgress(completed: 1, total: 2)), of: launch)
        let beforeKill = store
        store.loseNotes()
        #expect(store.launch(launch)?.state == .starting)
        #expect(store.launch(launch)?.readyAt == nil)
        #expect(store.launch(launch)?.progress == nil)

        store = beforeKill
        _ = store.apply(.checkpoint(launch, [1]))
        store.note(.progress(TaskProgress(completed: 2, total: 2)), of: launch)
        #expect(store.launch(launch)?.progress?.completed == 2)
        store.loseNotes()
        #expect(store.launch(launch)?.state == .running)
        #expect(store.launch(launch)?.readyAt == later)
        #expect(store.launch(launch)?.progress?.completed == 1)
    }

    @Test func `a copy goes its own way, and equal histories are equal stores`() throws {
        let (original, launch) = try storeWithLaunch()
        #expect(try storeWithLaunch().0 == original)
        var copy = original
        let recovery = copy.recover(RecoveryTerms(at: later))
        #expect(recovery.lost.map(\.id) == [launch])
        #expect(recovery.putBack == copy.pendingRequests)
        #expect(original.launch(launch)?.state == .starting)
        #expect(original.pendingRequests.isEmpty)
    }
}
