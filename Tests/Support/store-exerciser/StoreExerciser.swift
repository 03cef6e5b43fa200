import Foundation
import RequestStore
import TaskHostTestSupport
import TaskModel

/// Uses a store in its own process, and prints what the store acknowledged.
///
/// It prints each fact at once, on a line of its own. A test kills this process, opens the store again and
/// compares.
///
/// - `cycle DIRECTORY COUNT`: submits, launches and ends COUNT requests, one after the other.
/// - `hold DIRECTORY`: submits one request and keeps the store open until standard input ends.
/// - `fill DIRECTORY BALLAST`: submits until there is no space, reads, removes the file BALLAST, and submits
///   again.
/// - `measure DIRECTORY COUNT CALLERS`: prints durable submissions per second.
/// - `jobs DIRECTORY COUNT CALLERS`: takes COUNT requests from submission to end and prints commits per job.
@main struct StoreExerciser {
    static let now = WallTime(milliseconds: 1_800_000_000_000)

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let mode = arguments.first, let directory = arguments.dropFirst().first else {
            say("USAGE cycle|hold|fill|measure|jobs DIRECTORY ...")
            exit(2)
        }
        let numbers = arguments.dropFirst(2).compactMap { Int($0) }
        let store: SQLiteRequestStore
        do throws(StoreError) {
            store = try SQLiteRequestStore.open(directory: directory, socket: "/s", at: now)
        } catch {
            say("NOTOPENED \(error.code.rawValue)")
            exit(1)
        }
        say("OPENED")
        switch mode {
        case "cycle": await cycle(store, count: numbers.first ?? 1)
        case "hold":
            _ = await submit(store, key: "held", payload: nil)
            _ = FileHandle.standardInput.readDataToEndOfFile()
        case "fill": try await fill(store, ballast: arguments.last ?? "")
        case "measure": try await measure(store, count: numbers.first ?? 1000, callers: numbers.last ?? 1)
        case "jobs": try await jobs(store, count: numbers.first ?? 100, callers: numbers.last ?? 1)
        default: say("USAGE")
        }
        do throws(StoreError) {
            try await store.close(at: now)
            say("CLOSED")
        } catch {
            say("NOTCLOSED \(error.code.rawValue)")
        }
    }

    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func submit(_ store: SQLiteRequestStore, key: String, payload: String?) async -> RequestID? {
        do {
            var submission = TaskSubmission(
                identifier: try TaskIdentifier("com.example.\(key)"), origin: .client)
            submission.idempotencyKey = key
            submission.payload = payload
            let accepted = try await store.accept(
                submission, bundle: try BundleIdentifier("com.example"), kind: .processing, at: now,
                deadline: now, pendingLimit: nil)
            say("ACK \(key) \(accepted.request.id)")
            return accepted.request.id
        } catch let error as SubmissionError {
            say("REFUSED \(key) \(error.code.rawValue)")
        } catch {
            say("REFUSED \(key) unexpected")
        }
        return nil
    }

    static func cycle(_ store: SQLiteRequestStore, count: Int) async {
        if (try? await store.recover(RecoveryTerms(at: now))) == nil { say("FAILED recover") }
        for index in 0..<count {
            guard let request = await submit(store, key: "k\(index)", payload: nil) else { continue }
            do throws(StoreError) {
                let launch = try await store.beginLaunch(
                    of: request, at: now, isolation: "none", libraryHash: nil, isSimulated: false,
                    explanation: nil)
                say("START \(launch.id) \(launch.token)")
                try await store.markReady(launch.id, at: now)
                try await store.saveCheckpoint(launch.id, [UInt8(index % 256)])
                say("CHECKPOINT \(launch.id) \(index % 256)")
                _ = try await store.endLaunch(
                    launch.id, LaunchEnd(outcome: .succeeded, reason: nil), at: now, cpuTime: .zero,
                    cpuIsLowerBound: false, peakMemory: nil, progress: nil, putBack: nil)
                say("END \(launch.id)")
            } catch {
                say("FAILED \(error.code.rawValue)")
            }
        }
    }

    static func fill(_ store: SQLiteRequestStore, ballast: String) async throws {
        let payload = String(repeating: "x", count: 4096)
        var count = 0
        while await submit(store, key: "k\(count)", payload: payload) != nil { count += 1 }
        say("READ \(try await store.pendingRequests().count)")
        try FileManager.default.removeItem(atPath: ballast)
        _ = await submit(store, key: "after", payload: payload)
    }

    static func measure(_ store: SQLiteRequestStore, count: Int, callers: Int) async throws {
        let bundle = try BundleIdentifier("com.example")
        let payload = String(repeating: "x", count: 200)
        let clock = ContinuousClock()
        let started = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for index in 0..<(count / callers) {
                        let identifier = try TaskIdentifier("com.example.c\(caller).t\(index)")
                        var submission = TaskSubmission(identifier: identifier, origin: .client)
                        submission.payload = payload
                        _ = try await store.accept(
                            submission, bundle: bundle, kind: .processing, at: now, deadline: now,
                            pendingLimit: nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = started.duration(to: clock.now).inSeconds
        let statistics = store.statistics()
        say(
            "\(Int(Double(count) / seconds)) submissions/s, \(callers) callers, \(statistics.commits) commits, "
                + "largest \(statistics.largestCommit)")
    }

    /// Submits, launches and ends requests, CALLERS at a time; each launch becomes ready and reports progress
    /// once.
    static func jobs(_ store: SQLiteRequestStore, count: Int, callers: Int) async throws {
        let before = store.statistics().commits
        let clock = ContinuousClock()
        let started = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for index in stride(from: caller, to: count, by: callers) {
                        try await job(store, "com.example.t\(index)", since: started, on: clock)
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = started.duration(to: clock.now).inSeconds
        let commits = store.statistics().commits - before
        say(
            "\(Int(Double(count) / seconds)) jobs/s, \(callers) callers, \(count) jobs, \(commits) commits, "
                + "largest \(store.statistics().largestCommit)")
    }

    private static func job(
        _ store: SQLiteRequestStore, _ identifier: String, since start: ContinuousClock.Instant,
        on clock: ContinuousClock
    ) async throws {
        let submission = TaskSubmission(identifier: try TaskIdentifier(identifier), origin: .client)
        let request = try await store.accept(
            submission, bundle: try BundleIdentifier("com.example"), kind: .processing, at: now,
            deadline: now, pendingLimit: nil
        ).request
        let launch = try await store.beginLaunch(
            of: request.id, at: now, isolation: "none", libraryHash: nil, isSimulated: false,
            explanation: nil)
        let sinceStart = start.duration(to: clock.now)
        let moment = Moment(boot: sinceStart, monotonic: sinceStart, wall: now)
        store.note(.ready(at: now), of: launch.id, at: moment)
        store.note(.progress(TaskProgress(completed: 1, total: 2)), of: launch.id, at: moment)
        _ = try await store.endLaunch(
            launch.id, LaunchEnd(outcome: .succeeded, reason: nil), at: now, cpuTime: .zero,
            cpuIsLowerBound: false, peakMemory: nil, progress: nil, putBack: nil)
    }
}
