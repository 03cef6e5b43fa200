import Foundation
import TaskHostTestSupport
import Testing

/// What `bgtask transfer` says about options that can't work, and about a host that falls silent.
@Suite(.system, .timeLimit(.minutes(2))) struct TransferWordsTests {
    private static let address = "http://a/b"

    @Test func `only files can be sent, and the message says what is there`() async throws {
        let folder = try TemporaryFolder()
        let directory = await bgtask("transfer", Self.address, "--upload", folder.path, socket: "/none")
        #expect(directory.status == 2)
        #expect(directory.errors.contains("\(folder.path) is a directory, and only a file can be sent"))
        let device = await bgtask("transfer", Self.address, "--upload", "/dev/null", socket: "/none")
        #expect(device.status == 2)
        #expect(device.errors.contains("/dev/null is a device, a pipe or a socket. Only a file can be sent"))
    }

    @Test func `a time that has passed is refused`() async throws {
        let folder = try TemporaryFolder()
        let arguments = ["transfer", Self.address, "--to", folder.path + "/b", "--earliest"]
        for time in ["yesterday", "2020-01-01", "2020-01-01T00:00Z"] {
            let result = await bgtask(arguments + [time, "--socket", "/none"])
            #expect(result.status == 2)
            #expect(
                result.errors.contains("has passed. To begin at once, leave the option out."), "\(result)")
        }
    }

    /// The exit status 3 alone looks like a failed transfer.
    @Test func `a command that stops following says that the transfer goes on`() async throws {
        try await serving { _, socket in
            let folder = try TemporaryFolder()
            // The same time limits the first answer, which takes a second beside many other tests.
            let waiting = ["--wait", "--timeout", "4s", "--socket", socket]
            let one = await bgtask(["transfer", Self.address, "--to", folder.path + "/b"] + waiting)
            #expect(one.status == 3, "\(one)")
            #expect(one.errors.contains("goes on without this command. To see how far it is: bgtask show T"))
            let list = ["transfer", "http://a/c", "http://a/d", "--to", folder.path]
            let several = await bgtask(list + waiting)
            #expect(several.status == 3, "\(several)")
            #expect(several.errors.contains("the downloads go on without this command"))
        }
    }
}
