import Foundation
import Testing

@testable import LinuxSystem

/// The files that a host puts into a handover directory: whose they are, and which it refuses.
@Suite struct HandedOverFileTests {
    private let folder: String
    private var data: String { folder + "/data" }
    private var source: String { folder + "/source" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("handover-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder + "/data", withIntermediateDirectories: true)
        try Data("new".utf8).write(to: URL(filePath: folder + "/source"))
    }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status
    }

    @Test func `a file belongs to the bundle alone, also if it is put there twice`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let owner: uid_t = getuid() == 0 ? 2_100_000_007 : getuid()
        let writer: uid_t = getuid() == 0 ? 2_100_000_008 : getuid()
        #expect(chown(data, owner, getgid()) == 0 && chown(source, writer, getgid()) == 0)
        for _ in 0..<2 {
            // After a crash of the host, the source is the file in the directory.
            try HandoverDirectory(in: data).put(source, as: "T1")
            let put = try status(data + "/.transfers/T1")
            #expect(put.st_uid == owner && put.st_mode & 0o777 == 0o600 && put.st_nlink == 2)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: data + "/.transfers")
        #expect(names == ["T1"])
    }

    /// The program that makes transfers can write the directory in which the source is.
    @Test func `a link, a pipe or another user's second name in the place of the source is refused`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let directory = try HandoverDirectory(in: data)
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: source)
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        for name in ["link", "pipe"] {
            #expect(throws: SystemCallError.self) { try directory.put(folder + "/" + name, as: "T1") }
        }
        guard getuid() == 0 else { return }
        #expect(link(source, folder + "/second") == 0 && chown(source, 2_100_000_008, 0) == 0)
        #expect(throws: SystemCallError.self) { try directory.put(folder + "/second", as: "T1") }
        #expect(try status(source).st_uid == 2_100_000_008)
    }
}
