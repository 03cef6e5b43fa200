import Foundation
import RunnerWire
import TaskModel
import Testing

/// The call manifests that are shipped, doing their work.
@Suite struct ShippedCallTests {
    @Test func `VACUUM gives back the room of deleted rows, and the database stays whole`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path + "/data/test.sqlite"
        try SQLiteFile.make(database, rows: 20_000, in: folder)
        let before = try FileManager.default.attributesOfItem(atPath: database)[.size] as? Int ?? 0
        let payload = "{\"directory\": \"\(folder.path)/data\", \"path\": \"\(database)\"}"
        let launch = try CallLaunch.run(folder.shipped("sqlite-vacuum.yaml", payload: payload))
        #expect(launch.done?.success == true, "\(launch)")
        #expect(launch.ready)
        #expect(!launch.progress.isEmpty && launch.progress.allSatisfy { $0.total == 0 })
        let after = try FileManager.default.attributesOfItem(atPath: database)[.size] as? Int ?? 0
        #expect(before > 1 << 20 && after < before / 2, "\(before) to \(after)")
        #expect(try SQLiteFile.check(database, in: folder) == "ok 200")
    }

    @Test func `VACUUM of what is no database fails with SQLite's own words`() throws {
        let folder = try TemporaryFolder()
        try folder.write("data/no.sqlite", String(repeating: "no database at all. ", count: 100))
        let payload = "{\"directory\": \"\(folder.path)/data\", \"path\": \"\(folder.path)/data/no.sqlite\"}"
        let launch = try CallLaunch.run(folder.shipped("sqlite-vacuum.yaml", payload: payload))
        #expect(launch.done?.success == false)
        #expect(launch.done?.message == "sqlite3_exec returned 26, expected 0: file is not a database")
    }

    @Test func `a VACUUM that expires is interrupted, closed, and reported as stopped`() throws {
        // A fast disk can finish before the expiration comes; then it is tried again, and once it must be caught.
        for attempt in 1...20 {
            let folder = try TemporaryFolder()
            let database = folder.path + "/data/test.sqlite"
            try SQLiteFile.make(database, rows: 200_000, in: folder)
            let payload = "{\"directory\": \"\(folder.path)/data\", \"path\": \"\(database)\"}"
            let program = try folder.shipped("sqlite-vacuum.yaml", payload: payload)
            let launch = try CallLaunch.run(program) { $0.ready }
            #expect(launch.status == 0)
            #expect(try SQLiteFile.check(database, in: folder) == "ok 2000")
            if launch.done?.success == false { return }
            #expect(attempt < 20, "20 launches completed before their expiration: \(launch)")
        }
    }

    @Test func `a file is compressed, and zlib gives the same bytes back`() throws {
        let folder = try TemporaryFolder()
        let text = (0..<50_000).map { "line \($0 * 7919 % 10_007)\n" }.joined()
        try folder.write("data/log.txt", text)
        let payload = "{\"directory\": \"\(folder.path)/data\", \"name\": \"log.txt\"}"
        let launch = try CallLaunch.run(folder.shipped("zlib-compress.yaml", payload: payload))
        #expect(launch.done?.success == true, "\(launch)")
        let packed = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/data/log.txt.zz"))
        #expect(packed.count < text.utf8.count / 2)
        let script =
            "import sys, zlib; sys.stdout.write(zlib.decompress(open(sys.argv[1], 'rb').read()).decode())"
        #expect(try folder.run("python3", "-c", script, folder.path + "/data/log.txt.zz") == text)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data")
        #expect(names.sorted() == ["log.txt", "log.txt.zz"])
    }

    @Test func `compressing a file that is not there names it and the kernel's reason`() throws {
        let folder = try TemporaryFolder()
        let payload = "{\"directory\": \"\(folder.path)/data\", \"name\": \"none.txt\"}"
        let launch = try CallLaunch.run(folder.shipped("zlib-compress.yaml", payload: payload))
        #expect(launch.done?.success == false)
        #expect(launch.done?.message == "crc32_z: \(folder.path)/data/none.txt: No such file or directory")
    }

    @Test func `the cache warmer walks a tree by libc alone and counts its files`() throws {
        let folder = try TemporaryFolder()
        for index in 0..<20 { try folder.write("data/\(index).txt", "x") }
        let payload = "{\"directory\": \"\(folder.path)/data\"}"
        let launch = try CallLaunch.run(folder.shipped("cache-warmer.yaml", payload: payload))
        #expect(launch.done?.success == true, "\(launch)")
        #expect((launch.progress.last?.completed ?? 0) >= 21)
    }

    @Test func `the cache warmer says what errno said`() throws {
        let folder = try TemporaryFolder()
        let program = try folder.shipped("cache-warmer.yaml", payload: "{\"directory\": \"/nowhere/at/all\"}")
        let launch = try CallLaunch.run(program)
        #expect(launch.done?.message == "nftw returned -1, expected 0: No such file or directory (2)")
    }
}

/// A SQLite database, made and checked with Python's module.
private enum SQLiteFile {
    static func make(_ path: String, rows: Int, in folder: TemporaryFolder) throws {
        try folder.run(
            "python3", "-c",
            """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)')
            db.executemany('INSERT INTO t (text) VALUES (?)', (('some text %d ' % n * 8,) for n in range(int(sys.argv[2]))))
            db.execute('DELETE FROM t WHERE id % 100 != 0')
            db.commit()
            """, path, String(rows))
    }

    static func check(_ path: String, in folder: TemporaryFolder) throws -> String {
        try folder.run(
            "python3", "-c",
            """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            print(db.execute('PRAGMA integrity_check').fetchone()[0], db.execute('SELECT count(*) FROM t').fetchone()[0], end='')
            """, path)
    }
}
