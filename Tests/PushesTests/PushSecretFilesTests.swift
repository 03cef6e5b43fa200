import Foundation
import Pushes
import TaskModel
import Testing

@Suite struct PushSecretFilesTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "secrets-\(UUID().uuidString)")
    private let bundle: BundleIdentifier
    private var files: PushSecretFiles { PushSecretFiles(directory: directory.path) }

    init() throws { bundle = try BundleIdentifier("org.example.mail") }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `secrets survive in a file that only its owner can read`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try files.secrets(of: bundle) == [])
        let secrets = [PushSecret.random(), PushSecret.random()]
        try files.set(secrets, of: bundle)
        #expect(try files.secrets(of: bundle) == secrets)
        #expect(try mode(files.path(of: bundle)) == 0o600)
        #expect(try mode(directory.path) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [bundle.rawValue])
        try files.set([], of: bundle)
        #expect(try files.secrets(of: bundle) == [])
    }

    @Test func `a file that others could read is not used`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try files.set([PushSecret.random()], of: bundle)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: files.path(of: bundle))
        #expect(throws: PushSecretFiles.Problem.self) { try files.secrets(of: bundle) }
    }

    @Test func `a link is not used`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try files.set([PushSecret.random()], of: bundle)
        let other = try BundleIdentifier("org.example.other")
        try FileManager.default.createSymbolicLink(
            atPath: files.path(of: other), withDestinationPath: files.path(of: bundle))
        #expect(throws: PushSecretFiles.Problem.self) { try files.secrets(of: other) }
    }

    @Test func `a line that is no secret is reported, and comments are not read`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let secret = PushSecret.random()
        try files.set([secret], of: bundle)
        let path = files.path(of: bundle)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("# a comment\n".utf8))
        #expect(try files.secrets(of: bundle) == [secret])
        try handle.write(contentsOf: Data("secret\n".utf8))
        let problem = #expect(throws: PushSecretFiles.Problem.self) { try files.secrets(of: bundle) }
        #expect(problem.map { !"\($0)".contains(secret.text) } == true)
    }
}
