import Foundation
import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// SIGKILL or a disk error at the n-th system call, for n = 1, 2, 3 ... until a run has fewer than n calls.
@Suite(
    .system, .serialized,
    .enabled(if: Exerciser.hasStrace, "strace is missing or may not trace here: nothing is killed"))
struct KillSweepTests {
    @Test(arguments: ["pwrite64", "fdatasync", "fsync", "ftruncate", "write", "unlink", "rename"])
    func `a SIGKILL at any call loses nothing that was acknowledged`(call: String) async throws {
        var number = 0
        var kills = 0
        while true {
            number += 1
            let done = try await withFreshDirectory { directory in
                let said = try await Exerciser.run(
                    ["cycle", directory, "2"], under: Exerciser.injecting(call, "signal=SIGKILL", at: number))
                try await checkAcknowledged(said, in: directory, "\(call) number \(number)")
                return said.endedWell
            }
            if done { break }
            kills += 1
        }
        #expect(kills > 0, "no call of this name was made: the sweep proved nothing")
        print("killed at \(kills) calls of \(call): nothing that was acknowledged is missing")
    }

    @Test func `host after host on one directory, each killed a little later, loses nothing`() async throws {
        try await withTemporaryDirectory { directory in
            var number = 5
            while true {
                let said = try await Exerciser.run(
                    ["cycle", directory, "2"],
                    under: Exerciser.injecting("pwrite64", "signal=SIGKILL", at: number))
                try await checkAcknowledged(said, in: directory, "pwrite64 number \(number)")
                if said.endedWell { break }
                number += 7
            }
            #expect(number > 5)
        }
    }

    @Test func `a submission whose sync fails is refused, and the next ones are stored without a restart`()
        async throws
    {
        var number = 0
        var recovered = 0
        while true {
            number += 1
            let said = try await withFreshDirectory { directory in
                let said = try await Exerciser.run(
                    ["cycle", directory, "3"],
                    under: Exerciser.injecting("fdatasync", "error=EIO", at: number))
                try await checkAcknowledged(said, in: directory, "fdatasync number \(number)")
                return said
            }
            if let refusal = said.lines.firstIndex(where: { $0.first == "REFUSED" }) {
                #expect(said.lines[refusal].last == SubmissionError.Code.unavailable.rawValue)
                if said.lines[refusal...].contains(where: { $0.first == "ACK" }) { recovered += 1 }
            }
            let wasHit = ["REFUSED", "FAILED", "NOTOPENED", "NOTCLOSED"].contains { !said.facts($0).isEmpty }
            if !wasHit { break }
        }
        #expect(recovered > 0, "no error hit a submission that another one followed")
    }

    @Test func `every acknowledgement has a sync of its own where callers do not wait together`() async throws
    {
        try await withTemporaryDirectory { directory in
            let trace = directory + "/trace"
            let said = try await Exerciser.run(
                ["cycle", directory + "/state", "5"],
                under: ["strace", "-f", "-qq", "-o", trace, "-e", "trace=fdatasync,write"])
            let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            var synced = false
            var acknowledged = 0
            for line in lines {
                if line.contains("fdatasync") { synced = true }
                guard line.contains("\"ACK") || line.contains("\"START") || line.contains("\"END") else {
                    continue
                }
                #expect(synced, "\(line)")
                synced = false
                acknowledged += 1
            }
            #expect(acknowledged == 15)
            #expect(said.endedWell)
        }
    }

    private func withFreshDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let directory = FileManager.default.temporaryDirectory.path + "/bgtask-store-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await body(directory)
    }
}
