import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

/// Counting directory trees that a task may have made.
@Suite(.system) struct DirectorySizeTests {
    @Test func `all files count, and links are not followed`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "size-\(UUID().uuidString)")
        let files = FileManager.default
        try files.createDirectory(
            at: folder.appending(path: "tree/a/b"), withIntermediateDirectories: true)
        try files.createDirectory(at: folder.appending(path: "other"), withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        try Data(repeating: 1, count: 1 << 20).write(to: folder.appending(path: "tree/a/b/file"))
        try Data(repeating: 1, count: 8 << 20).write(to: folder.appending(path: "other/large"))
        for (name, target) in [("directory", "other"), ("file", "other/large")] {
            try files.createSymbolicLink(
                at: folder.appending(path: "tree/\(name)"),
                withDestinationURL: folder.appending(path: target))
        }
        let tree = folder.appending(path: "tree").path
        let size = DirectoryTree.size(of: [tree, folder.appending(path: "none").path], most: 1000)
        #expect(size.isComplete)
        #expect((1 << 20..<2 << 20).contains(size.bytes), "\(size)")
        // The tree has five entries.
        #expect(DirectoryTree.size(of: [tree], most: 6).isComplete)
        #expect(!DirectoryTree.size(of: [tree], most: 5).isComplete)
    }

    @Test func `a tree that is nested too deeply for a path is not complete`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "deep-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program =
            "import os, sys; os.chdir(sys.argv[1]); "
            + "[(os.mkdir('d' * 100), os.chdir('d' * 100)) for _ in range(60)]"
        let made = Command.run("python3", "-c", program, folder.path)
        #expect(made.status == 0, "\(made.output)")
        #expect(!DirectoryTree.size(of: [folder.path], most: 1000).isComplete)
        try DirectoryTree.remove(folder.path)
    }
}
