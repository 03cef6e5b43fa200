import Foundation
import TaskHostTestSupport
import Testing

/// Row 43: the host and its launcher are killed at once, and no other host starts.
@Suite(.system) struct KilledTogetherTests {
    @Test func `when host and launcher are killed together, nothing that a command has started is left`()
        throws
    {
        let host = try HostProcess()
        let folder = host.directory.appendingPathComponent("shared")
        // Neither of the two belongs to the program's session any more, and the second one has no parent.
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.parent
            modes: [processing]
            sandbox: {write: [{path: "\(folder.path)", create: true}]}
            tasks:
              - identifier: com.example.parent
                kind: processing
                deviceActivity: ignore
                command:
                  run:
                    - /bin/sh
                    - -c
                    - |
                      cd "\(folder.path)"
                      setsid sh -c 'trap "" TERM; echo $$ > one.new; mv one.new one; sleep 1000; sleep 1000' &
                      (setsid sh -c 'trap "" TERM; echo $$ > two.new; mv two.new two; sleep 1000; sleep 1000' &)
                      wait

            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("parent.yaml"))
        try host.start()
        host.run("launch", "com.example.parent")
        let children = try ["one", "two"].map { name in
            var child: Int32?
            try host.wait("the child \(name) is there") {
                child = (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
                    .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
                return child != nil
            }
            return try #require(child)
        }
        let launcher = try ProcessTree.launcher(of: host)
        let lock = host.state.appendingPathComponent("launcher.lock")
        let earlier = Date(timeIntervalSince1970: 0)
        try FileManager.default.setAttributes([.modificationDate: earlier], ofItemAtPath: lock.path)
        // A large process takes its time to die on a busy machine. The launcher must not see that end.
        kill(launcher, SIGSTOP)
        host.kill()
        kill(launcher, SIGKILL)
        try host.wait("all processes end", seconds: 20) {
            !children.contains { ProcessTree.isAlive($0) } && host.leftovers().isEmpty
        }
        // The next host takes this time as the end of this one.
        let noted = try FileManager.default.attributesOfItem(atPath: lock.path)[.modificationDate] as? Date
        #expect(try #require(noted) > earlier)
    }
}
