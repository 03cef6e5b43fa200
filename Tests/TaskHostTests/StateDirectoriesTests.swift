import Foundation
import Testing

@testable import TaskHost

/// What a host that runs as root finds in its state directory.
@Suite(.enabled(if: getuid() == 0, "only root's host checks these"))
struct StateDirectoriesTests {
    @Test func `app directories that others could change are removed, with a warning`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root + "/apps/com.example.a", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        let directories = StateDirectories(root: root)
        #expect(try directories.checkTrust(runner: "/bin/true") == [])
        #expect(FileManager.default.fileExists(atPath: root + "/apps"))
        #expect(chown(root + "/apps/com.example.a", 4711, 0) == 0)
        let warnings = try directories.checkTrust(runner: "/bin/true")
        #expect(!FileManager.default.fileExists(atPath: root + "/apps"))
        #expect(warnings.count == 1)
        let warning = try #require(warnings.first)
        #expect(warning.hasPrefix("\(root)/apps/com.example.a: untrusted: "), "\(warning)")
        #expect(warning.contains("So the host has removed \(root)/apps"), "\(warning)")
    }

    @Test func `a program for transfers that others could change is refused, and a missing one is not`()
        throws
    {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let directories = StateDirectories(root: root)
        let program = root + "/bgtask-transfer"
        #expect(try directories.checkTrust(runner: "/bin/true", transferProgram: program) == [])
        #expect(
            FileManager.default.createFile(
                atPath: program, contents: nil, attributes: [.posixPermissions: 0o755]))
        #expect(chown(program, 4711, 0) == 0)
        #expect(throws: UntrustedState.self) {
            try directories.checkTrust(runner: "/bin/true", transferProgram: program)
        }
    }
}
