import Foundation
import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// A full file system: a small one in memory, in a mount namespace of the exerciser.
@Suite(.system, .serialized) struct DiskFullTests {
    static let canMount = Exerciser.works("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt")

    @Test(.enabled(if: canMount, "no user and mount namespace here: there is no small file system to fill"))
    func `without space a submission is refused, reads go on, and space is enough to go on`() async throws {
        try await withTemporaryDirectory { directory in
            let script = """
                mount -t tmpfs -o size=1m none "$0" && head -c 200000 /dev/zero > "$0/ballast" &&
                "$1" fill "$0/state" "$0/ballast" && cp -r "$0/state" "$2"
                """
            let copy = directory + "/copy"
            let mountPoint = directory + "/small"
            try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: true)
            // `run` puts the exerciser's path after the words of `under`. So $0 of the script is the mount
            // point, $1 the exerciser and $2 the copy.
            let said = try await Exerciser.run(
                [copy], under: ["unshare", "-Urm", "sh", "-c", script, mountPoint])

            let refusals = said.facts("REFUSED")
            #expect(refusals.count == 1)
            #expect(refusals.first?.last == SubmissionError.Code.unavailable.rawValue)
            let before = said.facts("ACK").count { $0[1] != "after" }
            #expect(before > 10)
            #expect(said.facts("READ") == [["READ", "\(before)"]])
            #expect(said.facts("ACK").last?[1] == "after", "it goes on without a restart")
            #expect(said.facts("CLOSED").count == 1)
            try await checkAcknowledged(said, in: copy, "after no space")
        }
    }
}
