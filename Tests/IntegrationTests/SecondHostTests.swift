import Foundation
import TaskHostTestSupport
import Testing

/// A host whose control socket is another one's.
@Suite(.system) struct SecondHostTests {
    @Test func `it stops before it opens its store, so it starts nothing`() throws {
        let host = try HostProcess()
        try host.start()
        let state = host.directory.appendingPathComponent("other-state").path
        let answer = Command.run(
            Products.path("bgtaskd"), "--state", state, "--socket", host.socket.path, "--plugins",
            host.directory.path + "/plugins", "--manifests", host.directory.path + "/manifests",
            "--conditions", "simulated")
        #expect(answer.status == 1 && answer.output.contains("another host answers there"), "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: state + "/store.sqlite"))
        #expect(host.run("launches").status == 0)
    }
}
