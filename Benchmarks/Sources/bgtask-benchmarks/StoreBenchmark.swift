import Glibc
import RequestStore
import TaskModel

/// Durable submissions and whole jobs per second, one at a time and many at once.
///
/// The floor of the submissions is the speed of the disk itself.
struct StoreBenchmark {
    let folder: String
    private let clock = ContinuousClock()

    func run() async throws {
        print("\nDurable submissions (SQLite, synchronous=FULL; floor: append 256 bytes and fdatasync)")
        let floor = try appends(1000)
        print(cell("append + fdatasync", 44, right: false) + cell(decimal(floor, 0) + "/s", 12))
        for width in [1, 10, 100] {
            let store = try SQLiteRequestStore.open(
                directory: folder + "/store-\(width)", socket: "none", at: WallTime(milliseconds: 1))
            let count = width == 1 ? 1000 : 5000
            let rate = try await submits(store, count: count, width: width)
            let name = width == 1 ? "submit, one at a time" : "submit, \(width) at a time"
            print(
                cell(name, 44, right: false) + cell(decimal(rate, 0) + "/s", 12)
                    + cell(decimal(rate / floor, 2) + " x", 12))
            try await store.close(at: WallTime(milliseconds: 2))
        }
        try await runJobs()
    }

    /// Runs jobs from submission to end, in groups; each step of all jobs in a group is one commit.
    private func runJobs() async throws {
        print("\nDurable jobs, submission to end (accept, begin, end; notes share their commits)")
        for width in [1, 10, 100] {
            let store = try SQLiteRequestStore.open(
                directory: folder + "/jobs-\(width)", socket: "none", at: WallTime(milliseconds: 1))
            let count = width == 1 ? 500 : 2000
            let before = store.statistics().commits
            let start = clock.now
            for first in stride(from: 0, to: count, by: width) {
                try await jobs(store, first..<min(first + width, count), since: start)
            }
            let rate = Double(count) / (clock.now - start).seconds
            let commits = Double(store.statistics().commits - before) / Double(count)
            let name = width == 1 ? "job, one at a time" : "job, \(width) at a time"
            print(
                cell(name, 44, right: false) + cell(decimal(rate, 0) + "/s", 12)
                    + cell(decimal(commits, 2) + " commits each", 20))
            try await store.close(at: WallTime(milliseconds: 2))
        }
    }

    private func jobs(
        _ store: SQLiteRequestStore, _ numbers: Range<Int>, since start: ContinuousClock.Instant
    ) async throws {
        let wall = WallTime(milliseconds: 1)
        let terms = RequestTerms(
            bundle: try BundleIdentifier("org.example.bench"), kind: .processing, acceptedAt: wall,
            deadline: WallTime(milliseconds: 1_000_000), pendingLimit: nil)
        let accepts = try numbers.map { number in
            StoreWrite.accept(
                TaskSubmission(
                    identifier: try TaskIdentifier("org.example.bench.t\(number)"), origin: .client),
                terms)
        }
        let launch = LaunchTerms(
            at: wall, isolation: "none", libraryHash: nil, isSimulated: false, explanation: nil)
        var begins: [StoreWrite] = []
        for answer in await store.commit(accepts) {
            guard case .accepted(let acceptance) = try answer.get() else {
                throw BenchmarkError("a submission was not accepted")
            }
            begins.append(.begin(acceptance.request.id, launch))
        }
        let now = clock.now - start
        let moment = Moment(boot: now, monotonic: now, wall: wall)
        var ends: [StoreWrite] = []
        for answer in await store.commit(begins) {
            guard case .begun(let begun) = try answer.get() else {
                throw BenchmarkError("a request was not launched")
            }
            store.note(.ready(at: wall), of: begun.record.id, at: moment)
            store.note(.progress(TaskProgress(completed: 1, total: 2)), of: begun.record.id, at: moment)
            let end = LaunchEnd(outcome: .succeeded, reason: nil)
            ends.append(
                .end(
                    EndedLaunch(id: begun.record.id, end: end, at: moment), progress: nil, title: nil,
                    putBack: nil))
        }
        for answer in await store.commit(ends) { _ = try answer.get() }
    }

    private func appends(_ count: Int) throws -> Double {
        let file = open(folder + "/append", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError("open: \(errno)") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 65, count: 256)
        let start = clock.now
        for _ in 0..<count {
            guard write(file, bytes, bytes.count) == bytes.count, fdatasync(file) == 0 else {
                throw BenchmarkError("write: \(errno)")
            }
        }
        return Double(count) / (clock.now - start).seconds
    }

    private func submits(_ store: SQLiteRequestStore, count: Int, width: Int) async throws -> Double {
        let bundle = try BundleIdentifier("org.example.bench")
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<width {
                group.addTask {
                    for index in stride(from: lane, to: count, by: width) {
                        var submission = TaskSubmission(
                            identifier: try TaskIdentifier("org.example.bench.t\(index)"), origin: .client)
                        submission.payload =
                            #"{"directory": "/some/where/on/this/machine", "number": \#(index)}"#
                        let terms = RequestTerms(
                            bundle: bundle, kind: .processing, acceptedAt: WallTime(milliseconds: 1),
                            deadline: WallTime(milliseconds: 1_000_000), pendingLimit: nil)
                        for answer in await store.commit([.accept(submission, terms)]) {
                            _ = try answer.get()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(count) / (clock.now - start).seconds
    }
}

/// The failure of a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
