import Glibc
import RequestStore
import TaskModel

/// Durable submissions per second, one by one and many at once, against the disk's own speed.
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
                        _ = try await store.accept(
                            submission, bundle: bundle, kind: .processing, at: WallTime(milliseconds: 1),
                            deadline: WallTime(milliseconds: 1_000_000), pendingLimit: nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(count) / (clock.now - start).seconds
    }
}

/// What went wrong in a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
