import Foundation
import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// The implementations that the conformance suites test.
enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
    case durable
    case sqliteInMemory
    case dictionaries

    var testDescription: String { rawValue }

    /// Runs a body on a new store, then removes the store's files.
    func with(_ body: (any RequestStore) async throws -> Void) async throws {
        switch self {
        case .durable:
            try await withTemporaryDirectory { directory in
                let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
                try await body(store)
                try await store.close(at: now)
            }
        case .sqliteInMemory: try await body(SQLiteRequestStore.inMemory())
        case .dictionaries: try await body(MemoryRequestStore())
        }
    }
}

let now = WallTime(milliseconds: 1_800_000_000_000)
let later = now + .seconds(60)
let deadline = now + .seconds(86_400)

func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/bgtask-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(directory)
}

func submission(
    _ identifier: String = "com.example.a", key: String? = nil, origin: RequestOrigin = .client
) throws -> TaskSubmission {
    var submission = TaskSubmission(identifier: try TaskIdentifier(identifier), origin: origin)
    submission.idempotencyKey = key
    return submission
}

extension RequestStore {
    /// Accepts a submission with the bundle, kind and times that matter to few tests.
    @discardableResult
    func accept(
        _ submission: TaskSubmission, kind: TaskKind = .processing, limit: Int? = nil
    ) async throws -> Acceptance {
        try await accept(
            submission, bundle: try BundleIdentifier("com.example"), kind: kind, at: now, deadline: deadline,
            pendingLimit: limit)
    }

    func begin(_ request: RequestID) async throws -> LaunchRecord {
        try await beginLaunch(
            of: request, at: now, isolation: "cgroup", libraryHash: nil, isSimulated: false, explanation: nil)
    }

    @discardableResult
    func end(
        _ launch: LaunchID, _ outcome: Outcome = .succeeded, _ reason: Reason? = nil, at time: WallTime = now,
        title: LaunchTitle? = nil, putBack: PutBack? = nil
    ) async throws -> TaskRequest? {
        try await endLaunch(
            launch, LaunchEnd(outcome: outcome, reason: reason), at: time, cpuTime: .zero,
            cpuIsLowerBound: false,
            peakMemory: nil, progress: nil, title: title, putBack: putBack)
    }

    /// Stores a fact and expects success.
    func remember(_ fact: StoredFact) async {
        #expect(await commit([.remember(fact)]) == [.success(.done)])
    }
}
