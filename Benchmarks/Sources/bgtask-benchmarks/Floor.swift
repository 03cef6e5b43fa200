import Foundation

/// The kernel's own cost of a process, which the C program `fork-floor` measures.
struct Floor {
    var fork = Samples()
    var spawn = Samples()

    /// Takes more samples.
    ///
    /// Several calls spread the samples over the whole run.
    mutating func sample(_ count: Int) throws {
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program.appendingPathComponent("fork-floor")
        process.arguments = [String(count)]
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Int64(words[1]) else { continue }
            if words[0] == "fork" { fork.add(value) } else { spawn.add(value) }
        }
        guard process.terminationStatus == 0, !fork.nanoseconds.isEmpty else {
            throw BenchmarkError("fork-floor exited with \(process.terminationStatus)")
        }
    }
}
