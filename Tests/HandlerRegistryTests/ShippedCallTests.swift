import Foundation
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// The shipped manifests with calls, doing their real work.
@Suite(.system) struct ShippedCallTests {
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
        let folder = try TemporaryFolder()
        let database = folder.path + "/data/test.sqlite"
        try SQLiteFile.make(database, rows: 20_000, in: folder)
        let payload = "{\"directory\": \"\(folder.path)/data\", \"path\": \"\(database)\"}"
        let program = try folder.shipped("sqlite-vacuum.yaml", payload: payload)
        // VACUUM cannot proceed while another process locks the database, so only an interruption can end it.
        let holder = try SQLiteFile.Holder(database)
        let launch = try CallLaunch.run(
            program, expireWhen: { $0.progress.last?.message == "sqlite3_progress_handler" },
            whenExpired: { holder.release() })
        holder.release()
        #expect(launch.status == 0)
        #expect(launch.done?.success == false, "\(launch)")
        #expect(launch.done?.isUnstarted != true, "\(launch)")
        #expect(try SQLiteFile.check(database, in: folder) == "ok 200")
    }

    @Test func `an expiration right behind the start finds the call's handler, every time`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path + "/data/test.sqlite"
        try SQLiteFile.make(database, rows: 100, in: folder)
        let payload = "{\"directory\": \"\(folder.path)/data\", \"path\": \"\(database)\"}"
        let program = try folder.shipped("sqlite-vacuum.yaml", payload: payload)
        for _ in 0..<30 {
            let launch = try CallLaunch.run(program, expireAtOnce: true)
            #expect(launch.ready && launch.done != nil && launch.done?.isUnstarted != true, "\(launch)")
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

/// A SQLite database that Python's module creates and checks.
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

    /// A process that holds an exclusive lock on the database until it is released, or until its test ends.
    final class Holder {
        private let process = Process()
        private let input = Pipe()

        init(_ path: String) throws {
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c",
                """
                import sqlite3, sys
                db = sqlite3.connect(sys.argv[1], isolation_level=None)
                db.execute('BEGIN EXCLUSIVE')
                print('held', flush=True)
                sys.stdin.read()
                """, path,
            ]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            #expect(!output.fileHandleForReading.availableData.isEmpty)
        }

        func release() {
            guard process.isRunning else { return }
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }

        deinit { release() }
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
