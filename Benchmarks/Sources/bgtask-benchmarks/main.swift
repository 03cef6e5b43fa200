import Foundation

// bgtask-benchmarks [scheduling | simulation | PATH OF bgtask-runner PATH OF libFeaturesApp.so]
//
// Prints medians, and ratios to a floor of the same run. `scheduling` measures only the scheduler,
// `simulation` only virtual hosts and replays.
let folder = NSTemporaryDirectory() + "/bgtask-bench-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

print("bgtask benchmarks; compare ratios, not microseconds: the floors are measured in the same run")
let argument = CommandLine.arguments.dropFirst().first
switch argument {
case "scheduling": SchedulingBenchmark().run()
case "simulation": try await SimulationBenchmark().run()
default:
    if let argument {
        guard let app = CommandLine.arguments.dropFirst(2).first else {
            throw BenchmarkError("libFeaturesApp.so's path is missing: 'make bench-parts' passes it")
        }
        try await LaunchBenchmark(folder: folder, runner: argument, app: app).run()
    }
    try FrameBenchmark().run()
    SchedulingBenchmark().run()
    try await SimulationBenchmark().run()
    try await StoreBenchmark(folder: folder).run()
}
