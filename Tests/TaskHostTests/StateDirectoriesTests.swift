import Foundation
import LinuxSystem
import TaskModel
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

    private func owner(_ path: String) -> UInt32? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_uid : nil
    }

    @Test func `what a bundle had before it got a user becomes the user's, but nothing that others own`()
        throws
    {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let data = root + "/data/com.example.a"
        try FileManager.default.createDirectory(
            atPath: data + "/deep/deeper", withIntermediateDirectories: true)
        for name in ["file", "deep/deeper/former", "deep/foreign", "names"] {
            try Data().write(to: URL(filePath: "\(data)/\(name)"))
        }
        try Data().write(to: URL(filePath: root + "/outside"))
        for name in ["", "/deep/deeper/former"] { #expect(chown(data + name, 70_001, 0) == 0) }
        #expect(chown(data + "/deep/foreign", 4711, 0) == 0)
        #expect(symlink(root + "/outside", data + "/link") == 0)
        #expect(link(root + "/outside", data + "/second-name") == 0)
        let directories = StateDirectories(root: root)
        try directories.openForUsers()
        let bundle = try BundleIdentifier("com.example.a")
        try directories.makeData(of: bundle, for: 70_002)
        for name in ["", "/file", "/deep", "/deep/deeper", "/deep/deeper/former", "/link"] {
            #expect(owner(data + name) == 70_002, "\(name)")
        }
        #expect(owner(data + "/deep/foreign") == 4711)
        #expect(owner(root + "/outside") == 0)
        #expect(owner(root + "/data") == 0)

        // Without a user, tasks run as root without its privileges, and could not use a user's files.
        try directories.makeData(of: bundle, for: nil)
        for name in ["", "/file", "/deep/deeper/former"] { #expect(owner(data + name) == 0, "\(name)") }
    }

    @Test func `users of bundles can search the state directory, but read nothing of the host`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root + "/recording", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: root + "/store.sqlite"))
        #expect(chmod(root + "/store.sqlite", 0o644) == 0 && chmod(root, 0o700) == 0)
        let directories = StateDirectories(root: root)
        try directories.openForUsers()
        func mode(_ path: String) -> mode_t? {
            var facts = stat()
            return lstat(root + path, &facts) == 0 ? facts.st_mode & 0o777 : nil
        }
        #expect(mode("/store.sqlite") == 0o600 && mode("/recording") == 0o700)
        for name in ["", "/data", "/tmp", "/apps", "/libraries"] { #expect(mode(name) == 0o711, "\(name)") }
        let bundle = try BundleIdentifier("com.example.a")
        let temporary = try directories.makeTemporary(of: LaunchID(rawValue: 7), bundle, for: 70_002)
        #expect(owner(temporary) == 70_002 && mode("/tmp/com.example.a") == 0o710)
        #expect(owner(root + "/tmp/com.example.a") == 0)
        #expect(owner(root + "/tmp") == 0)
    }

    @Test func `a link on the way to a new directory is not followed`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root + "/elsewhere", withIntermediateDirectories: true)
        #expect(symlink(root + "/elsewhere", root + "/granted") == 0)
        #expect(throws: SystemCallError.self) {
            try DirectoryTree.make(root + "/granted/new", owner: 70_002, group: 70_002)
        }
        #expect(try DirectoryTree.names(in: root + "/elsewhere") == [])
        try DirectoryTree.make(root + "/elsewhere/a/b", owner: 70_002, group: 70_002)
        #expect(owner(root + "/elsewhere") == 0)
        #expect(owner(root + "/elsewhere/a") == 70_002 && owner(root + "/elsewhere/a/b") == 70_002)
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
