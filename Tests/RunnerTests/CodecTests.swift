import Foundation
import TaskHostTestSupport
import Testing

/// The runner's C codec, tested with the golden files of the Swift codec.
@Suite(.system) struct CodecTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/RunnerWire")

    static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".hex") }.sorted()

    private func golden(_ name: String) throws -> [UInt8] {
        try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8).split(separator: "\n")
            .flatMap { $0.prefix { $0 != "#" }.split(separator: " ") }.compactMap { UInt8($0, radix: 16) }
    }

    /// The exit status and the output of `bgtask-runner frames` for a stream.
    private func frames(_ stream: [UInt8]) throws -> (status: Int32, output: [UInt8]) {
        let input = FileManager.default.temporaryDirectory.appending(path: "frames-\(UUID().uuidString)")
        try Data(stream).write(to: input)
        defer { try? FileManager.default.removeItem(at: input) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: try TestLauncher.runnerPath())
        process.arguments = ["frames"]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "a signal")
        return (process.terminationStatus, Array(bytes))
    }

    @Test func `there are golden files`() { #expect(Self.names.count >= 30) }

    @Test(arguments: names)
    func `a golden frame is read and written byte for byte`(name: String) throws {
        let bytes = try golden(name)
        #expect(try frames(bytes) == (0, bytes))
    }

    @Test(arguments: ["template-full.hex", "launch-full.hex", "reply-pending.hex"])
    func `every prefix of a stream is refused, and whole it is read`(name: String) throws {
        let bytes = try golden(name)
        for length in 1..<bytes.count { #expect(try frames(Array(bytes.prefix(length))).status == 70) }
    }

    @Test func `a length of 4 GiB, a length of 3 and one of 65,537 are refused`() throws {
        for length: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [3, 0, 0, 0], [1, 0, 1, 0]] {
            #expect(try frames(length + [6, 0, 0, 0]) == (70, []))
        }
    }

    @Test func `an unknown kind is refused below 0x80 and skipped from there on`() throws {
        #expect(try frames([4, 0, 0, 0, 0x7F, 0, 0, 0]) == (70, []))
        #expect(
            try frames([4, 0, 0, 0, 0x80, 0, 0, 0, 4, 0, 0, 0, 6, 0, 1, 0]) == (0, [4, 0, 0, 0, 6, 0, 0, 0]))
    }

    @Test func `a gap in the sequence is refused`() throws {
        #expect(try frames([4, 0, 0, 0, 6, 0, 1, 0]) == (70, []))
    }

    @Test func `random bytes end in an error, never in a crash`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let body = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
            let status = try frames(
                [68, 0, 0, 0, UInt8.random(in: 0...0x60, using: &random), 0, 0, 0] + body
            ).status
            #expect(status == 70 || status == 0)
        }
    }
}
