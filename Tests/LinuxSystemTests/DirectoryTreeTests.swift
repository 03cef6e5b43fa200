import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

@Suite(.system) struct DirectoryTreeTests {
    let base = FileManager.default.temporaryDirectory.appendingPathComponent("bgtask-\(UUID().uuidString)")
        .path

    @Test func `directories are made for their owner alone, and again without harm`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base + "/a/b")
        try DirectoryTree.make(base + "/a/b")
        let mode = try FileManager.default.attributesOfItem(atPath: base + "/a/b")[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func `removing follows no link, and what is not there is no error`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base + "/kept")
        try Data("x".utf8).write(to: URL(fileURLWithPath: base + "/kept/file"))
        try DirectoryTree.make(base + "/gone")
        try FileManager.default.createSymbolicLink(
            atPath: base + "/gone/link", withDestinationPath: base + "/kept")
        try DirectoryTree.remove(base + "/gone")
        try DirectoryTree.remove(base + "/gone")
        #expect(!DirectoryTree.isDirectory(base + "/gone"))
        #expect(FileManager.default.fileExists(atPath: base + "/kept/file"))
    }

    /// A hostile task that outlives its launch for a moment can exchange entries of its temporary directory
    /// for links. `exchanges.c` does that at one moment of the removal.
    @Test(arguments: 1...4)
    func `a directory that is exchanged for a link is not left for what the link names`(_ moment: Int) throws
    {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base)
        let program = try compile("exchanges")
        let answer = Command.run(program, base, "\(moment)")
        #expect(answer.status == 0, "\(answer.output)")
    }

    /// Compiles a program that includes the host's own code.
    private func compile(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let sources = folder.appendingPathComponent("../../Sources/Linux/CLinuxShims").standardizedFileURL
            .path
        let compiler = Command.run(
            "cc", "-Werror", "-I", sources, "-I", sources + "/include", "-o", "\(base)/\(name)",
            folder.appendingPathComponent("../Fixtures/Programs/\(name).c").standardizedFileURL.path)
        #expect(compiler.status == 0, "\(compiler.output)")
        return "\(base)/\(name)"
    }

    @Test(.enabled(if: getuid() == 0, "only root can give directories away"))
    func `a user who exchanges a new directory for one of root's does not get that`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base + "/place")
        let answer = Command.run(try compile("exchanges_new"), base + "/place")
        #expect(answer.status == 0, "\(answer.output)")
    }

    @Test(.enabled(if: getuid() == 0, "only root can give directories away"))
    func `a user who exchanges parts of a tree while it is given gets nothing of root's`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base)
        let program = try compile("exchanges_given")
        var moment = 0
        var status: Int32 = 0
        // Before each call of the walk in turn, until there are no more.
        while status == 0 {
            moment += 1
            let folder = base + "/\(moment)"
            try DirectoryTree.make(folder)
            let answer = Command.run(program, folder, "\(moment)")
            status = answer.status
            #expect(status == 0 || status == 3, "before call \(moment): \(answer.output)")
        }
        #expect(moment > 12)
    }

    /// A path of this depth has more bytes than a system call takes, so each step must be relative.
    @Test func `a tree of any depth is removed, and a directory that permits nothing`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base + "/gone")
        var parent = open(base + "/gone", O_RDONLY | O_DIRECTORY)
        for _ in 1...5000 {
            #expect(mkdirat(parent, "d", 0o700) == 0)
            let child = openat(parent, "d", O_RDONLY | O_DIRECTORY)
            close(parent)
            parent = child
        }
        #expect(mkdirat(parent, "closed", 0o700) == 0)
        #expect(openat(parent, "closed/file", O_CREAT | O_WRONLY, 0o600) >= 0)
        #expect(fchmodat(parent, "closed", 0, 0) == 0)
        close(parent)
        try DirectoryTree.remove(base + "/gone")
        #expect(DirectoryTree.isMissing(base + "/gone"))
    }

    @Test func `a file in the way is named`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base)
        try Data().write(to: URL(fileURLWithPath: base + "/file"))
        let error = #expect(throws: SystemCallError.self) { try DirectoryTree.make(base + "/file/under") }
        #expect(error?.description.contains(base + "/file") == true)
    }
}
