import Foundation

// bgtask-benchmarks [PATH OF bgtask-runner]: prints medians, and ratios to a floor that was measured in the same run.
let folder = NSTemporaryDirectory() + "/bgtask-bench-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

print("bgtask benchmarks; compare ratios, not microseconds: the floors are measured in the same run")
if CommandLine.arguments.count > 1 {
    try await LaunchBenchmark(folder: folder, runner: CommandLine.arguments[1]).run()
}
try FrameBenchmark().run()
SchedulingBenchmark().run()
try await StoreBenchmark(folder: folder).run()
