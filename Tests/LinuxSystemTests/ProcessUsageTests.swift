import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

/// Finds the processes of a tree, and no more of them than a caller asks for.
@Suite(.system) struct ProcessUsageTests {
    /// A shell with four children.
    private final class Tree {
        let shell = Process()
        var root: Int32 { shell.processIdentifier }

        init() throws {
            let output = Pipe()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", "for i in 1 2 3 4; do sleep 1000 & done; echo; wait"]
            shell.standardOutput = output
            try shell.run()
            _ = try output.fileHandleForReading.read(upToCount: 1)
        }

        /// Kills the children and the shell, which may not wait for them: it can have blocked signals.
        func end() {
            for process in ProcessUsage.processes(below: root) { kill(process, SIGKILL) }
            shell.waitUntilExit()
        }
    }

    @Test func `a tree is found, and only as many processes as a caller asks for`() throws {
        let tree = try Tree()
        #expect(ProcessUsage.processes(below: tree.root).count == 5)
        #expect(ProcessUsage.descendants(of: tree.root).count == 4)
        #expect(ProcessUsage.processes(below: tree.root, most: 3).count == 3)
        #expect(ProcessUsage.processes(below: tree.root, most: 3).contains(tree.root))
        tree.end()
    }

    @Test func `threads are counted until there are more than the limit`() throws {
        let tree = try Tree()
        #expect(ProcessUsage.threadCount(below: tree.root, limit: 100) == 5)
        #expect(ProcessUsage.threadCount(below: tree.root, limit: 3) == 4)
        tree.end()
    }
}
