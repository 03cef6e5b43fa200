import Foundation
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// The files that `save:` leaves in a directory: the complete file, and no other.
@Suite(.system) struct CallSaveTests {
    private static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [processing]
        sandbox: {write: ["${payload.directory}"]}
        tasks:
          - identifier: com.example.a.save
            kind: processing
            payload: {directory: string}
            call:
              library: libc.so.6
              steps:
                - {function: memset, returns: pointer, arguments: [{buffer: 128MiB, as: big}, {int: 97}, {sizeOf: big}]}
                - save: {from: big, length: 134217728, to: "${payload.directory}/big"}

        """

    private func names(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data").sorted()
    }

    @Test func `killed in a save, a task leaves the old file or the new one, and no other`() throws {
        let folder = try TemporaryFolder()
        let payload = "{\"directory\": \"\(folder.path)/data\"}"
        try folder.write("data/big", "old")
        let program = try folder.program(Self.manifest, payload: payload)
        // The progress of the step before the save arrives when that step has ended; then 128 MiB are
        // written.
        let launch = try CallLaunch.run(program, killWhen: { $0.progress.last?.message == "memset" })
        #expect(launch.ready)
        #expect(try names(folder) == ["big"])
        let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/data/big")[.size] as? Int
        #expect(size == 3 || size == 128 << 20)
    }

    @Test func `a save removes what a killed one left, and nothing that is somebody's`() throws {
        let folder = try TemporaryFolder()
        try folder.write("data/log.txt", "text")
        let left = [".log.txt.zz.bgtask.0a1b2c", ".log.txt.zz.bgtask.ffffff"]
        let others = [".log.txt.zz.backup", ".log.txt.zz.bgtask.notes.txt", ".other.bgtask.0a1b2c"]
        for name in left + others { try folder.write("data/\(name)", "half") }
        // The lock marks the file of a save that is still running.
        let going = try FileHandle(forUpdating: URL(fileURLWithPath: "\(folder.path)/data/\(left[1])"))
        #expect(flock(going.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        let payload = "{\"directory\": \"\(folder.path)/data\", \"name\": \"log.txt\"}"
        let launch = try CallLaunch.run(folder.shipped("zlib-compress.yaml", payload: payload))
        #expect(launch.done?.success == true, "\(launch)")
        #expect(try names(folder) == (["log.txt", "log.txt.zz", left[1]] + others).sorted())
    }

    @Test func `a file that is replaced keeps its permissions`() throws {
        let folder = try TemporaryFolder()
        try folder.write("data/log.txt", "text")
        try folder.write("data/log.txt.zz", "old", mode: 0o640)
        let payload = "{\"directory\": \"\(folder.path)/data\", \"name\": \"log.txt\"}"
        let launch = try CallLaunch.run(folder.shipped("zlib-compress.yaml", payload: payload))
        #expect(launch.done?.success == true, "\(launch)")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data/log.txt.zz")
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/data/log.txt.zz")).first == 0x78)
    }
}
