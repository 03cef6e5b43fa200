import Foundation
import GRDB
@testable import RequestStore
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// What one commit writes, and that the commit is durable.
@Suite struct CommitTests {
    /// Keeps the writer busy until a test releases it, so that all writes submitted meanwhile wait together.
    private struct Gate {
        let opened = DispatchSemaphore(value: 0)

        func hold(_ store: SQLiteRequestStore) async -> Task<Void, Never> {
            let opened = opened
            let flag = Reached()
            let holding = Task<Void, Never> {
                _ = await store.queue.perform { _ in
                    flag.value.withLock { $0 = true }
                    opened.wait()
                }
            }
            while !flag.value.withLock({ $0 }) { await Task.yield() }
            return holding
        }
    }

    private final class Reached: Sendable {
        let value = Mutex(false)
    }

    /// The number of commits in a write-ahead log: the frames whose header has the size of the database after
    /// them.
    private func commits(inLogOf directory: String) throws -> Int {
        let log = try Data(contentsOf: URL(fileURLWithPath: directory + "/store.sqlite-wal"))
        // The log is empty: opening the store truncated it.
        if log.count < 32 { return 0 }
        func number(_ offset: Int) -> UInt32 { log[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        let pageSize = Int(number(8))
        let salt = number(16)
        return stride(from: 32, to: log.count - 24 - pageSize + 1, by: 24 + pageSize).count {
            number($0 + 8) == salt && number($0 + 4) != 0
        }
    }

    @Test func `SQLite syncs every commit, and a database that does not is refused`() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
            let synchronous = try await store.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            #expect(synchronous == 2)
            let foreignKeys = try await store.write { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") }
            #expect(foreignKeys == 1)
            store.queue.connection.reopen()
            let again = try await store.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            #expect(again == 2, "also after it was opened again")
            try await store.close(at: now)

            let lax = try DatabasePool(path: directory + "/lax.sqlite")
            let error = #expect(throws: StoreError.self) {
                try StoreConnection.checkDurability(of: lax, file: "lax.sqlite")
            }
            #expect(error?.code == .notDurable)
            #expect(error?.finding.contains("synchronous=1") == true)
        }
    }

    @Test func `two thousand submissions that wait together are durable by one commit`() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
            let gate = Gate()
            let holding = await gate.hold(store)
            let before = try commits(inLogOf: directory)
            try await withThrowingTaskGroup(of: RequestID.self) { group in
                for index in 0..<2000 {
                    group.addTask { try await store.accept(submission("com.example.t\(index)")).request.id }
                }
                while store.queue.waitingCount() < 2000 { await Task.yield() }
                gate.opened.signal()
                var ids: Set<RequestID> = []
                for try await id in group { ids.insert(id) }
                #expect(ids.count == 2000)
            }
            await holding.value
            // The gate itself wrote nothing, so its commit left no frame.
            #expect(try commits(inLogOf: directory) - before == 1)
            #expect(store.statistics().largestCommit == 2000)

            // The copy has the files that a SIGKILL would leave.
            try FileManager.default.createDirectory(
                atPath: directory + "/copy", withIntermediateDirectories: true)
            for name in ["store.sqlite", "store.sqlite-wal"] {
                try FileManager.default.copyItem(
                    atPath: "\(directory)/\(name)", toPath: "\(directory)/copy/\(name)")
            }
            let copy = try SQLiteRequestStore.open(directory: directory + "/copy", socket: "s", at: now)
            #expect(try await copy.pendingRequests().count == 2000)
            try await copy.close(at: now)
            try await store.close(at: now)
        }
    }

    @Test func `one that is refused does not fail the others of its commit`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        let gate = Gate()
        let holding = await gate.hold(store)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask {
                    do {
                        try await store.accept(submission("com.example.t\(index)"), limit: 10)
                        return true
                    } catch is SubmissionError {
                        return false
                    }
                }
            }
            while store.queue.waitingCount() < 50 { await Task.yield() }
            gate.opened.signal()
            var accepted = 0
            for try await wasAccepted in group where wasAccepted { accepted += 1 }
            #expect(accepted == 10)
        }
        await holding.value
        #expect(try await store.pendingRequests().count == 10)
        #expect(store.statistics().commits == 2)
    }

    @Test func `a write that fails half-way leaves nothing of itself`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        struct Refusal: Error {}
        let result: Result<Void, any Error> = await store.queue.perform { db in
            try db.execute(sql: "INSERT INTO settings (key, value) VALUES ('half', 'done')")
            throw Refusal()
        }
        #expect(throws: Refusal.self) { try result.get() }
        #expect(try await store.settings().isEmpty)
    }

    @Test func `a hundred writes of one call are one commit with one sync, refused ones included`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
            let (before, logged) = (store.statistics(), try commits(inLogOf: directory))
            let terms = RequestTerms(
                bundle: try BundleIdentifier("com.example"), kind: .processing, acceptedAt: now,
                deadline: deadline, pendingLimit: 60)
            let answers = await store.commit(
                try (0..<100).map { .accept(try submission("com.example.t\($0)"), terms) })
            #expect(answers.count { (try? $0.get()) != nil } == 60)
            let identifiers = answers.compactMap { answer -> String? in
                guard case .success(.accepted(let acceptance)) = answer else { return nil }
                return acceptance.request.identifier.rawValue
            }
            #expect(identifiers == (0..<60).map { "com.example.t\($0)" }, "in the order of the writes")
            let after = store.statistics()
            #expect(after.commits - before.commits == 1)
            #expect(after.writes - before.writes == 100)
            #expect(after.largestCommit == 100)
            #expect(try commits(inLogOf: directory) - logged == 1)
            try await store.close(at: now)
        }
    }

    @Test func `an error of the database fails every write of a commit`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        let request = try await store.accept(submission("com.example.a")).request
        try await store.write { try $0.execute(sql: "DROP TABLE settings") }
        let answers = try await store.commit([
            .cancel(request.id, .cancelledByUser, at: now),
            .remember(.boot("1")),
            .accept(
                submission("com.example.b"),
                RequestTerms(
                    bundle: BundleIdentifier("com.example"), kind: .processing, acceptedAt: now,
                    deadline: deadline, pendingLimit: nil)),
        ])
        #expect(answers.count == 3)
        for answer in answers {
            guard case .failure(.store(let error)) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(error.code == .damaged)
        }
        #expect(try await store.pendingRequests() == [request])
    }

    @Test func `a durable job alone is three commits: accept, begin and end; ready and progress cost none`()
        async throws
    {
        let store = try SQLiteRequestStore.inMemory()
        let clock = VirtualMoments()
        // The store writes its first note at once, in a commit of its own, which must not be counted here.
        store.note(.ready(at: now), of: LaunchID(rawValue: 99), at: clock.now())
        while !store.queue.unwrittenNotes().isEmpty { await Task.yield() }
        let before = store.statistics().commits
        let launch = try await store.begin(store.accept(submission()).request.id)
        store.note(.ready(at: later), of: launch.id, at: clock.now())
        store.note(.progress(TaskProgress(completed: 1, total: 2)), of: launch.id, at: clock.now())
        try await store.end(launch.id)
        #expect(store.statistics().commits - before == 3)
        let written = try await store.write {
            try Bool.fetchOne(
                $0, sql: "SELECT ready_ms = ? AND progress_completed = 1 FROM launches",
                arguments: [later.milliseconds])
        }
        #expect(written == true)
    }

    @Test func `a hundred jobs at once are three commits, one for each step that all of them take`()
        async throws
    {
        let store = try SQLiteRequestStore.inMemory()
        let terms = RequestTerms(
            bundle: try BundleIdentifier("com.example"), kind: .processing, acceptedAt: now,
            deadline: deadline, pendingLimit: nil)
        let launch = LaunchTerms(
            at: now, isolation: "cgroup", libraryHash: nil, isSimulated: false, explanation: nil)
        let moment = VirtualMoments().now()
        let accepted = await store.commit(
            try (0..<100).map { .accept(try submission("com.example.t\($0)"), terms) })
        let begun = await store.commit(
            accepted.compactMap { answer in
                guard case .success(.accepted(let acceptance)) = answer else { return nil }
                return .begin(acceptance.request.id, launch)
            })
        let ended = await store.commit(
            begun.compactMap { answer in
                guard case .success(.begun(let begun)) = answer else { return nil }
                let end = LaunchEnd(outcome: .succeeded, reason: nil)
                return .end(
                    EndedLaunch(id: begun.record.id, end: end, at: moment), progress: nil, title: nil,
                    putBack: nil)
            })
        #expect(ended == Array(repeating: .success(.ended(putBack: nil)), count: 100))
        #expect(store.statistics().commits == 3)
        #expect(store.statistics().writes == 300)
    }

    @Test func `a flood of notes makes one commit a second at most, and rides along with others`()
        async throws
    {
        let store = try SQLiteRequestStore.inMemory()
        let clock = VirtualMoments()
        let launch = try await store.begin(store.accept(submission()).request.id)
        let before = store.statistics().commits
        store.note(.ready(at: later), of: launch.id, at: clock.now())
        for count in 1...10_000 {
            store.note(
                .progress(TaskProgress(completed: Int64(count), total: 0)), of: launch.id, at: clock.now())
        }
        await store.remember(.boot("carry the notes"))
        #expect(store.statistics().commits - before <= 2)
        let stored = try await store.write {
            try Int.fetchOne($0, sql: "SELECT progress_completed FROM launches WHERE state = 'running'")
        }
        #expect(stored == 10_000)
        #expect(store.queue.unwrittenNotes().isEmpty)

        clock.advance(by: .milliseconds(999))
        store.note(.progress(TaskProgress(completed: 1, total: 0)), of: launch.id, at: clock.now())
        #expect(store.queue.unwrittenNotes().count == 1)
        clock.advance(by: .milliseconds(1))
        store.note(.progress(TaskProgress(completed: 2, total: 0)), of: launch.id, at: clock.now())
        while !store.queue.unwrittenNotes().isEmpty { await Task.yield() }
        #expect(try await store.launch(launch.id)?.progress?.completed == 2)
    }
}
