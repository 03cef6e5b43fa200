import Foundation

/// Why a test could not be done.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Other programs that a test needs.
enum Command {
    struct Answer {
        var status: Int32
        var output: String
    }

    /// Runs a program found in `PATH` to its end; what it can't start is status -1.
    static func run(_ arguments: [String], environment: [String: String] = [:]) -> Answer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = path(environment)
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch { return Answer(status: -1, output: "\(error)") }
        // Read to its end first: a full pipe would hold the program up.
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(status: process.terminationStatus, output: String(decoding: bytes, as: UTF8.self))
    }

    static func run(_ arguments: String...) -> Answer { run(arguments) }

    /// The environment with the administrator's programs in `PATH` too.
    static func path(_ additions: [String: String]) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(environment["PATH"] ?? ""):/usr/sbin:/sbin"
        return environment.merging(additions) { $1 }
    }

    /// Whether a program is installed.
    static func exists(_ program: String) -> Bool {
        if program.hasPrefix("/") { return FileManager.default.isExecutableFile(atPath: program) }
        return run("which", program).status == 0
    }
}

/// Waits until something holds, looking 100 times a second; the limit is a stop for a test that hangs.
func waitUntil(_ what: String, seconds: Int = 30, _ holds: () throws -> Bool) throws {
    for _ in 0..<(seconds * 100) {
        if try holds() { return }
        usleep(10_000)
    }
    throw TestFailure("waited \(seconds) s and it never held: \(what)")
}
