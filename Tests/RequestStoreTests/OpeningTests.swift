import Foundation
import GRDB
import LinuxSystem
import RequestStore
import TaskHostTestSupport
import TaskModel
import Testing

/// Opening a store: who may open it, what is checked, and that damage is reported and never silently
/// repaired.
///
/// This suite runs alone, because a child process of another test holds copies of our locks until its exec.
@Suite(.alone) struct OpeningTests {
    private func open(_ directory: String) throws -> SQLiteRequestStore {
        try SQLiteRequestStore.open(directory: directory, socket: "/run/first.sock", at: now)
    }

    /// Fills a directory with a store of 200 requests that is closed cleanly.
    private func fill(_ directory: String) async throws {
        let store = try open(directory)
        for index in 0..<200 { try await store.accept(submission("com.example.t\(index)")) }
        try await store.close(at: now)
    }

    /// Copies the files of an open store, which are what a SIGKILL leaves.
    private func copyOfOpenStore(_ directory: String, to copy: String) async throws {
        let store = try open(directory)
        try await store.accept(submission("com.example.newest"))
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in ["store.sqlite", "store.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(copy)/\(name)")
        }
        try await store.close(at: now)
    }

    private func change(_ file: String, _ body: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        body(&bytes)
        try bytes.write(to: URL(fileURLWithPath: file))
    }

    private func expectDamage(_ directory: String) throws {
        let file = directory + "/store.sqlite"
        let before = try? Data(contentsOf: URL(fileURLWithPath: file))
        let error = #expect(throws: StoreError.self) { try open(directory) }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        #expect(error?.subject == file)
        #expect(error?.remedy.contains("bgtaskd --set-aside-store") == true)
        let after = try? Data(contentsOf: URL(fileURLWithPath: file))
        #expect(after == before, "nothing is changed")
    }

    @Test func `a second host is refused and learns who has the directory, until the first one closes`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let first = try open(directory)
            let error = #expect(throws: StoreError.self) { try open(directory) }
            #expect(error?.code == .inUse)
            #expect(error?.finding.contains("pid \(ProcessInfo.processInfo.processIdentifier) ") == true)
            #expect(error?.finding.contains("/run/first.sock") == true)
            #expect(throws: StoreError.self) {
                try SQLiteRequestStore.setAside(directory: directory, at: now)
            }
            try await first.close(at: now)
            try await open(directory).close(at: now)
        }
    }

    @Test func `the lock of a host that was killed is no obstacle, and its request is there`() async throws {
        try await withTemporaryDirectory { directory in
            let (process, output) = Exerciser.make(["hold", directory])
            let input = Pipe()
            process.standardInput = input
            try process.run()
            var said = Data()
            while !String(decoding: said, as: UTF8.self).contains("ACK") {
                let more = output.availableData
                try #require(!more.isEmpty, "it ended early: \(String(decoding: said, as: UTF8.self))")
                said += more
            }
            let error = #expect(throws: StoreError.self) { try open(directory) }
            #expect(error?.finding.contains("pid \(process.processIdentifier) ") == true)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()

            let store = try open(directory)
            #expect(!store.opening.wasClean)
            #expect(store.opening.warnings.isEmpty)
            #expect(try await store.pendingRequests().map(\.submission.idempotencyKey) == ["held"])
            try await store.close(at: now)
        }
    }

    @Test func `a clean stop is remembered, an unclean one is checked`() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            let store = try open(directory)
            #expect(store.opening.wasClean)
            #expect(!store.opening.isNew)
            try await store.close(at: now)
            try await copyOfOpenStore(directory, to: directory + "/copy")
            let copy = try open(directory + "/copy")
            #expect(!copy.opening.wasClean)
            #expect(try await copy.pendingRequests().count == 201)
            try await copy.close(at: now)
        }
    }

    @Test func `a damaged header, an empty file, another file and another database are refused`() async throws
    {
        try await withTemporaryDirectory { directory in
            let file = directory + "/store.sqlite"
            try await fill(directory)
            try change(file) { $0.replaceSubrange(0..<16, with: Data(repeating: 0x58, count: 16)) }
            try expectDamage(directory)
            try Data().write(to: URL(fileURLWithPath: file))
            try expectDamage(directory)
            try Data("not a database at all, but some text".utf8).write(to: URL(fileURLWithPath: file))
            try expectDamage(directory)
            try FileManager.default.removeItem(atPath: file)
            try await DatabaseQueue(path: file).write { try $0.execute(sql: "CREATE TABLE other (a)") }
            try expectDamage(directory)
        }
    }

    @Test func `after an unclean stop every damaged page and a cut file is found`() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            let pages = try Data(contentsOf: URL(fileURLWithPath: directory + "/store.sqlite")).count / 4096
            #expect(pages > 10)
            for page in [1, pages / 2, pages - 1] {
                let copy = "\(directory)/copy\(page)"
                try await copyOfOpenStore(directory, to: copy)
                // The log is removed because it has newer copies of some pages.
                try FileManager.default.removeItem(atPath: copy + "/store.sqlite-wal")
                try change(copy + "/store.sqlite") { bytes in
                    let start = page * 4096
                    bytes.replaceSubrange(start..<(start + 64), with: Data(repeating: 0xA5, count: 64))
                }
                try expectDamage(copy)
            }
            let cut = directory + "/cut"
            try await copyOfOpenStore(directory, to: cut)
            try FileManager.default.removeItem(atPath: cut + "/store.sqlite-wal")
            try change(cut + "/store.sqlite") { $0.removeLast($0.count / 2) }
            try expectDamage(cut)
        }
    }

    @Test func `a log without its database is damage, a database without its log is warned of`() async throws
    {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            try await copyOfOpenStore(directory, to: directory + "/a")
            try FileManager.default.removeItem(atPath: directory + "/a/store.sqlite")
            try expectDamage(directory + "/a")

            try await copyOfOpenStore(directory, to: directory + "/c")
            try Data().write(to: URL(fileURLWithPath: directory + "/c/store.sqlite"))
            try expectDamage(directory + "/c")
            let log = try Data(contentsOf: URL(fileURLWithPath: directory + "/c/store.sqlite-wal"))
            #expect(!log.isEmpty, "the log of an emptied database is kept for a repair")

            try await copyOfOpenStore(directory, to: directory + "/b")
            try FileManager.default.removeItem(atPath: directory + "/b/store.sqlite-wal")
            let store = try open(directory + "/b")
            #expect(store.opening.warnings.count == 1)
            try await store.close(at: now)
        }
    }

    @Test func `a store whose file was removed or replaced acknowledges nothing`() async throws {
        try await withTemporaryDirectory { directory in
            let store = try open(directory)
            try await store.accept(submission("com.example.before"))
            let file = directory + "/store.sqlite"
            try FileManager.default.moveItem(atPath: file, toPath: file + ".moved")
            await #expect(throws: (any Error).self) {
                try await store.accept(submission("com.example.removed"))
            }
            try Data([1]).write(to: URL(fileURLWithPath: file))
            await #expect(throws: (any Error).self) {
                try await store.accept(submission("com.example.replaced"))
            }
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.moveItem(atPath: file + ".moved", toPath: file)
            try await store.accept(submission("com.example.after"))
            try await store.close(at: now)
        }
    }

    @Test func `a store of a newer host is refused and left as it is`() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory)
            let queue = try DatabaseQueue(path: directory + "/store.sqlite")
            try await queue.write {
                try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 of the future')")
            }
            try queue.close()
            let error = #expect(throws: StoreError.self) { try open(directory) }
            #expect(error?.code == .newerSchema)
        }
    }

    @Test func `setting aside renames the files, and the next store's tokens are above the old one's`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let old = try open(directory)
            let token = try await old.begin(old.accept(submission()).request.id).token
            try await old.close(at: now)
            try change(directory + "/store.sqlite") { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
            try expectDamage(directory)

            let moved = try SQLiteRequestStore.setAside(directory: directory, at: now)
            let base = directory + "/store.sqlite.set-aside-20270115T080000Z"
            #expect(moved.last == base)
            #expect(moved.allSatisfy { $0.hasPrefix(base) && FileManager.default.fileExists(atPath: $0) })
            #expect(!FileManager.default.fileExists(atPath: directory + "/store.sqlite"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/store.sqlite-wal"))
            let fresh = try SQLiteRequestStore.open(directory: directory, socket: "s", at: later)
            #expect(fresh.opening.isNew)
            #expect(try await fresh.begin(fresh.accept(submission()).request.id).token > token)
            try await fresh.close(at: now)
            #expect(try SQLiteRequestStore.setAside(directory: directory + "/none", at: now).isEmpty)
        }
    }

    @Test func `the files can be read by their owner alone`() async throws {
        try await withTemporaryDirectory { directory in
            let state = directory + "/state"
            let store = try open(state)
            try await store.accept(submission())
            for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "store.lock"] {
                let rights = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")[
                    .posixPermissions]
                #expect(rights as? Int == 0o600, "\(name)")
            }
            #expect(
                try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int == 0o700)
            try await store.close(at: now)
        }
    }

    @Test func `a closed store refuses with an error that says so`() async throws {
        try await withTemporaryDirectory { directory in
            let store = try open(directory)
            try await store.close(at: now)
            let write = await #expect(throws: SubmissionError.self) { try await store.accept(submission()) }
            #expect(write?.code == .unavailable)
            let read = await #expect(throws: StoreError.self) { try await store.pendingRequests() }
            #expect(read?.code == .closed)
        }
    }

    @Test func `a directory that can't be made is named`() async throws {
        try await withTemporaryDirectory { directory in
            try Data().write(to: URL(fileURLWithPath: directory + "/file"))
            let error = #expect(throws: StoreError.self) { try open(directory + "/file/state") }
            #expect(error?.code == .cannotOpen)
            #expect(error?.subject == directory + "/file/state")
        }
    }
}
