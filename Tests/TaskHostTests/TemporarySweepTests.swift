import Foundation
import LinuxSystem
import Testing

@testable import TaskHost

/// The temporary directories that an earlier host left.
@Suite struct TemporarySweepTests {
    private let files = FileManager.default

    private func paths(below path: String) -> [String] {
        (files.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).sorted()
    }

    @Test func `they are out of the way at once, and their removal can come later`() throws {
        let root = files.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? files.removeItem(atPath: root) }
        try files.createDirectory(atPath: root + "/tmp/com.example.a/L1", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: root + "/tmp/com.example.a/L1/file"))
        let directories = StateDirectories(root: root)
        let aside = try directories.setTemporaryAside()
        #expect(aside.count == 1)
        let first = try #require(aside.first)
        #expect(!files.fileExists(atPath: root + "/tmp"))
        #expect(paths(below: first) == ["com.example.a", "com.example.a/L1", "com.example.a/L1/file"])

        // A host that ends during the removal leaves the rest to the next one.
        try files.createDirectory(atPath: root + "/tmp/com.example.b", withIntermediateDirectories: true)
        let both = try directories.setTemporaryAside()
        #expect(both.count == 2 && both.contains(first))
        for path in both { try DirectoryTree.remove(path) }
        #expect(paths(below: root) == [])
        #expect(try directories.setTemporaryAside() == [])
    }
}
