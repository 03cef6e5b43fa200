import Foundation
import TaskHostTestSupport
import Testing

/// TreeHasher's state is static, because a launch runs one handler in its process. So these tests run one by
/// one.
@Suite(.system, .serialized) struct TreeHasherTests {
    let plugin: PluginHarness
    let tree = try! ScratchFolder()
    let data = try! ScratchFolder()

    init() throws {
        plugin = try PluginHarness("TreeHasher")
        // Sizes around those of a block of SHA-256 (64 bytes) and of a read by the plugin (256 KiB), in deep
        // directories and with names that sha256sum escapes.
        let sizes = [
            "a": 0, "b/1": 1, "b/2/55": 55, "b/2/56": 56, "b/63": 63, "c": 64, "d d": 65, "e\nf": 1000,
            "g\\h": 5,
        ]
        for (name, size) in sizes { try tree.write(name, bytes(size, seed: 7)) }
        try tree.write("large/exact", bytes(256 * 1024, seed: 1))
        try tree.write("large/more", bytes(3 * 1024 * 1024 + 17, seed: 2))
        try tree.write("z", bytes(700_000, seed: 3))
        try FileManager.default.createSymbolicLink(atPath: tree.path + "/link", withDestinationPath: "c")
    }

    private func bytes(_ count: Int, seed: UInt8) -> Data {
        // 65,521 is a prime number, so that no two blocks of a file are equal.
        let pattern = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) ^ seed })
        var result = Data(capacity: count)
        while result.count < count { result.append(pattern.prefix(count - result.count)) }
        return result
    }

    private var payload: String { #"{"ignored": [1, {"directory": "no"}], "directory": "\#(tree.path)"}"# }

    /// The list that sha256sum prints for the same tree.
    private func expected() throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum"]
        process.currentDirectoryURL = URL(fileURLWithPath: tree.path)
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `it writes what sha256sum writes`() throws {
        let run = plugin.run(payload: payload, dataDirectory: data.path)
        #expect(run.completion?.success == true)
        #expect(run.completion?.message == "12 files, 4109198 bytes, 0 skipped")
        #expect(run.askedForExpiration)
        #expect(run.progress.last?.completed == run.progress.last?.total)
        #expect(try data.read("hashes.sha256") == expected())
        #expect(!FileManager.default.fileExists(atPath: data.path + "/hashes.sha256.partial"))
    }

    @Test func `stopped again and again, it ends with the list of an undisturbed run`() throws {
        var checkpoint: Data?
        var attempts = 0
        var done: Int64 = 0
        while attempts < 1000 {
            attempts += 1
            let run = plugin.run(
                payload: payload, dataDirectory: data.path, checkpoint: checkpoint,
                expiringAfter: 19 + attempts % 5)
            checkpoint = run.checkpoint ?? checkpoint
            // The attempt continues: its first report is not behind the last report of the previous attempt.
            if let first = run.progress.first { #expect(first.completed >= done) }
            done = run.progress.last?.completed ?? done
            if let completion = run.completion {
                #expect(completion.success)
                break
            }
            #expect(!FileManager.default.fileExists(atPath: data.path + "/hashes.sha256"))
        }
        #expect(attempts > 3)
        #expect(try data.read("hashes.sha256") == expected())
    }

    @Test func `a file that changed since the checkpoint is hashed from its beginning`() throws {
        let first = plugin.run(payload: payload, dataDirectory: data.path, expiringAfter: 32)
        let checkpoint = try #require(first.checkpoint)
        #expect(first.completion == nil)
        try tree.write("large/more", bytes(2 * 1024 * 1024, seed: 9))
        let second = plugin.run(payload: payload, dataDirectory: data.path, checkpoint: checkpoint)
        #expect(second.completion?.success == true)
        #expect(try data.read("hashes.sha256") == expected())
    }

    @Test func `a checkpoint that is not its own begins anew`() throws {
        for foreign in [Data(), Data([1, 2, 3]), Data(repeating: 0x74, count: 200)] {
            let run = plugin.run(payload: payload, dataDirectory: data.path, checkpoint: foreign)
            #expect(run.completion?.success == true)
            #expect(try data.read("hashes.sha256") == expected())
        }
    }

    @Test func `a payload without a directory fails and shows one`() {
        for payload in [nil, "{}", #"{"directory": 5}"#, #"{"directory""#, "[]"] {
            let run = plugin.run(payload: payload, dataDirectory: data.path)
            #expect(run.completion?.success == false)
            #expect(run.completion?.message.contains(#"{"directory": "/path"}"#) == true)
        }
    }

    @Test func `a directory that is not there is named`() {
        let run = plugin.run(payload: #"{"directory": "/no/such"}"#, dataDirectory: data.path)
        #expect(run.completion?.success == false)
        #expect(run.completion?.message == "can't list /no/such: No such file or directory")
    }
}
