import Foundation

// bgtask-benchmarks [scheduling | PATH OF bgtask-runner]: prints medians, and ratios to a floor that was measured in the same
// run; `scheduling` measures the scheduler alone.
let folder = NSTemporaryDirectory() + "/bgtask-bench-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

print("bgtask benchmarks; compare ratios, not microseconds: the floors are measured in the same run")
let argument = CommandLine.arguments.dropFirst().first
let isSchedulingAlone = argument == "scheduling"
if !isSchedulingAlone {
    if let argument { try await LaunchBenchmark(folder: folder, runner: argument).run() }
    try FrameBenchmark().run()
}
SchedulingBenchmark().run()
if !isSchedulingAlone { try await StoreBenchmark(folder: folder).run() }
