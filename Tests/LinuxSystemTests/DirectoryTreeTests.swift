import Foundation
import LinuxSystem
import Testing

@Suite struct DirectoryTreeTests {
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

    @Test func `a file in the way is named`() throws {
        defer { try? DirectoryTree.remove(base) }
        try DirectoryTree.make(base)
        try Data().write(to: URL(fileURLWithPath: base + "/file"))
        let error = #expect(throws: SystemCallError.self) { try DirectoryTree.make(base + "/file/under") }
        #expect(error?.description.contains(base + "/file") == true)
    }
}
