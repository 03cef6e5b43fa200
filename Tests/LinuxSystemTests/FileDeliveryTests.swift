import Foundation
import LinuxSystem
import Testing

@Suite struct FileDeliveryTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("delivery-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("new".utf8).write(to: URL(filePath: folder + "/source"))
    }

    private func deliver(to name: String) throws -> String {
        try FileDelivery.put(folder + "/source", at: "\(folder)/\(name)", mark: "T1")
        return try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    @Test func `a file is replaced, and of a link only the link`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("old".utf8).write(to: URL(filePath: folder + "/file"))
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "old")
        try Data("kept".utf8).write(to: URL(filePath: folder + "/old"))
        #expect(try deliver(to: "file") == "new")
        #expect(try deliver(to: "link") == "new")
        #expect(try String(contentsOfFile: folder + "/old", encoding: .utf8) == "kept")
        #expect(try names == ["file", "link", "old", "source"])
    }

    /// As root, a host could otherwise replace /dev/null by a download.
    @Test func `a pipe, a socket or a directory is not replaced`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        try FileManager.default.createDirectory(
            atPath: folder + "/directory", withIntermediateDirectories: true)
        for name in ["pipe", "directory"] {
            let error = #expect(throws: SystemCallError.self) { try deliver(to: name) }
            #expect(error?.code == EEXIST)
        }
        #expect(try names == ["directory", "pipe", "source"])
    }

    @Test func `nothing appears behind a link in the path, or in the protected directory`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let manager = FileManager.default
        try manager.createDirectory(atPath: folder + "/inner/deep", withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: folder + "/way", withDestinationPath: "inner")
        let link = #expect(throws: SystemCallError.self) { try deliver(to: "way/file") }
        #expect(link?.isTooDeep == true)
        for name in ["inner/file", "inner/deep/file", "inner/../inner/file"] {
            let error = #expect(throws: SystemCallError.self) {
                try FileDelivery.put(
                    folder + "/source", at: "\(folder)/\(name)", outside: folder + "/inner", mark: "T1")
            }
            #expect(error?.isOfProtectedPlace == true)
        }
        #expect(try manager.subpathsOfDirectory(atPath: folder + "/inner") == ["deep"])
        #expect(try deliver(to: "inner/file") == "new")
    }

    /// A user who may write the directory can put a link under the name that the delivery uses first.
    @Test func `a link under the temporary name is removed, and its file keeps its mode`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("secret".utf8).write(to: URL(filePath: folder + "/secret"))
        #expect(chmod(folder + "/secret", 0o600) == 0)
        var source = stat()
        #expect(stat(folder + "/source", &source) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/.bgtask-T1-\(source.st_ino)", withDestinationPath: folder + "/secret")
        #expect(try deliver(to: "file") == "new")
        var status = stat()
        #expect(lstat(folder + "/secret", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try names == ["file", "secret", "source"])
    }

    @Test func `of files that are delivered together, each has its own result`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: folder + "/place/taken", withIntermediateDirectories: true)
        func parcel(_ source: String, _ name: String) -> FileDelivery.Parcel {
            FileDelivery.Parcel("\(folder)/\(source)", at: "\(folder)/place/\(name)", mark: "T1")
        }
        let results = FileDelivery.link([
            parcel("source", "a"), parcel("source", "taken"), parcel("missing", "b"), parcel("source", "c"),
        ])
        let codes = results.map { result -> CInt? in
            switch result {
            case .done: 0
            case .distant: nil
            case .failed(let error): error.code
            }
        }
        #expect(codes == [0, EEXIST, ENOENT, 0])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder + "/place").sorted()
                == ["a", "c", "taken"])
        let nowhere = [
            FileDelivery.Parcel(folder + "/source", at: folder + "/none/a", mark: "T1"),
            FileDelivery.Parcel(folder + "/source", at: folder + "/none/b", mark: "T2"),
        ]
        for result in FileDelivery.link(nowhere) {
            guard case .failed(let error) = result, error.code == ENOENT else {
                Issue.record("\(result)")
                continue
            }
        }
    }

    @Test func `files are removed together, and each group says what stays`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["1.data", "2.part"] { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
        try FileManager.default.createDirectory(
            atPath: folder + "/3.data", withIntermediateDirectories: true)
        let failed = DirectoryTree.removeFiles(
            in: folder, (1...3).map { ($0, ["\($0).part", "\($0).data"]) })
        #expect(failed.map(\.key) == [3])
        #expect(try names == ["3.data", "source"])
        #expect(DirectoryTree.removeFiles(in: folder + "/none", [(1, ["1.data"])]).isEmpty)
    }
}
