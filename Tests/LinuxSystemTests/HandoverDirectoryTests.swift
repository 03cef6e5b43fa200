import Foundation
import LinuxSystem
import Testing

/// The host's part of the exchange of files with a bundle that may do anything to the directory.
@Suite struct HandoverDirectoryTests {
    private let folder: String
    private var data: String { folder + "/data" }
    private var handover: String { data + "/.transfers" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("handover-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder + "/data", withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(filePath: folder + "/secret"))
        try Data("new".utf8).write(to: URL(filePath: folder + "/source"))
    }

    private func put(_ name: String) throws {
        try HandoverDirectory(in: data).put(folder + "/source", as: name)
    }

    private func open(_ name: String) throws -> Int64 { try HandoverDirectory(in: data).open(name).size }

    private func code(_ work: () throws -> Void) -> Int32? {
        #expect(throws: SystemCallError.self) { try work() }?.code
    }

    @Test func `a file is put, replaced, opened and removed`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try put("T1")
        try put("T1")
        #expect(try String(contentsOfFile: handover + "/T1", encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: handover) == ["T1"])
        // The source is another name of the same file until the host removes it.
        #expect(code { _ = try open("T1") } == EACCES)
        try FileManager.default.removeItem(atPath: folder + "/source")
        #expect(try open("T1") == 3)
        try HandoverDirectory(in: data).remove("T1")
        #expect(code { _ = try open("T1") } == ENOENT)
    }

    @Test func `copies for uploads that nothing will send are removed, and nothing else`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["T1", "upload-kept", "upload-cut", "mine"] { try put(name) }
        func sweep(before start: Int) throws -> [String] {
            try HandoverDirectory(in: data).sweep(keeping: ["upload-kept"], writtenBefore: start)
        }
        #expect(try sweep(before: 1).isEmpty, "a task may be writing it")
        #expect(try sweep(before: .max) == ["upload-cut"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: handover).sorted()
                == ["T1", "mine", "upload-kept"])
    }

    @Test func `the host reads no file through a link or a further name`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try put("T1")
        try FileManager.default.createSymbolicLink(
            atPath: handover + "/link", withDestinationPath: folder + "/secret")
        try FileManager.default.linkItem(atPath: folder + "/secret", toPath: handover + "/name")
        #expect(mkfifo(handover + "/pipe", 0o600) == 0)
        #expect(code { _ = try open("link") } == ELOOP)
        #expect(code { _ = try open("name") } == EACCES)
        #expect(code { _ = try open("pipe") } == EINVAL)
        for name in ["../../secret", "", ".", ".."] { #expect(code { _ = try open(name) } == EINVAL) }
    }

    @Test func `the host writes nothing through a link in the place of the directory or of a file`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: handover, withIntermediateDirectories: true)
        for name in ["T1", ".T1.new"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(handover)/\(name)", withDestinationPath: folder + "/secret")
        }
        try put("T1")
        #expect(try String(contentsOfFile: folder + "/secret", encoding: .utf8) == "secret")
        try FileManager.default.removeItem(atPath: handover)
        try FileManager.default.createDirectory(
            atPath: folder + "/elsewhere", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: handover, withDestinationPath: folder + "/elsewhere")
        #expect(code { try put("T2") } == ENOTDIR)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/elsewhere").isEmpty)
    }
}
