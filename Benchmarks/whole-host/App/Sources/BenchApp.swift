import BackgroundTasks
import Foundation

/// The Swift handlers of the benchmarks.
///
/// `run` appends a stamp and completes in its own Swift task, as handlers do; `hold` appends a stamp and
/// waits until it expires.
@main
struct BenchApp: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: "org.example.benchapp.run.*", using: nil) { task in
            let time = now()
            task.expirationHandler = { task.setTaskCompleted(success: false) }
            Task {
                await Task.yield()
                task.setTaskCompleted(success: appendStamp(of: task.identifier, at: time))
            }
        }
        scheduler.register(forTaskWithIdentifier: "org.example.benchapp.hold.*", using: nil) { task in
            task.expirationHandler = { task.setTaskCompleted(success: false) }
            Task { _ = appendStamp(of: task.identifier, at: now()) }
        }
    }
}

/// The time of CLOCK_MONOTONIC in nanoseconds, which other processes can compare with theirs.
private func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Appends a record, in the format of `tools/stamps.h`, to the file `stamps` in the bundle's data directory.
private func appendStamp(of identifier: String, at time: Int64) -> Bool {
    let number = identifier.split(separator: ".").last.flatMap { Int64($0) } ?? 0
    let stamp: [Int64] = [number, 1, time]
    let file = open(NSHomeDirectory() + "/stamps", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    return stamp.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == 24
}
