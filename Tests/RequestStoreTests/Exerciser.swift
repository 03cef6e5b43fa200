import Foundation
import RequestStore
import TaskModel
import Testing

/// Runs `store-exerciser`, directly or under another program.
struct Exerciser {
    /// The lines that the exerciser printed, and whether it exited with 0.
    struct Result {
        var lines: [[String]]
        var endedWell: Bool

        func facts(_ word: String) -> [[String]] { lines.filter { $0.first == word } }
    }

    /// The path of the exerciser; it is built beside the test program.
    static let path = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("store-exerciser").path

    /// - Parameter under: A program, with its arguments, that runs the exerciser.
    static func run(_ arguments: [String], under: [String] = []) async throws -> Result {
        let (process, output) = make(arguments, under: under)
        try process.run()
        var bytes = Data()
        while let more = try output.read(upToCount: 65_536), !more.isEmpty { bytes += more }
        process.waitUntilExit()
        return Result(
            lines: String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
                $0.split(separator: " ").map(String.init)
            }, endedWell: process.terminationReason == .exit && process.terminationStatus == 0)
    }

    static func make(_ arguments: [String], under: [String] = []) -> (Process, FileHandle) {
        let words = under + [path] + arguments
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return (process, pipe.fileHandleForReading)
    }

    /// Whether a program works on this machine; for tests that need it.
    static func works(_ words: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static let hasStrace = works("strace", "-f", "-qq", "-o", "/dev/null", "true")

    static func injecting(_ call: String, _ what: String, at number: Int) -> [String] {
        [
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)",
            "--inject=\(call):\(what):when=\(number)",
        ]
    }
}

/// Compares the contents of a store with the acknowledgements that a process printed before it ended.
func checkAcknowledged(_ said: Exerciser.Result, in directory: String, _ comment: Comment) async throws {
    let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
    let before = try await store.launches(identifier: nil, limit: 1000, before: nil)
    let recovery = try await store.recover(RecoveryTerms(at: now))
    #expect(recovery.lost.count <= 1, comment)
    #expect(recovery.lost.count == before.count { $0.state != .ended }, comment)

    for fact in said.facts("ACK") {
        let repeated = try await store.accept(submission("com.example.\(fact[1])", key: fact[1]))
        #expect(repeated.isRepeat, comment)
        #expect(repeated.request.id.description == fact[2], comment)
        #expect(repeated.state != .launched, comment)
    }
    for fact in said.facts("START") {
        let launch = try await store.launch(#require(LaunchID(fact[1])))
        #expect(launch?.token.description == fact[2], comment)
    }
    for fact in said.facts("END") {
        let launch = try await store.launch(#require(LaunchID(fact[1])))
        #expect(launch?.end?.outcome == .succeeded, comment)
    }
    if let last = said.facts("CHECKPOINT").last, let lost = recovery.lost.first,
        lost.id.description == last[1]
    {
        #expect(try await store.checkpoint(of: lost.request) == [UInt8(last[2]) ?? 0], comment)
    }
    let request = try await store.accept(submission("com.example.afterwards")).request
    let next = try await store.begin(request.id)
    #expect(before.allSatisfy { $0.token < next.token && $0.id < next.id }, comment)
    try await store.close(at: now)
}
