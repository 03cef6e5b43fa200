import Foundation
import TaskHostTestSupport
import Testing

/// Each manifest of `manifests/gallery`, doing its work in a host of its own with the real library.
@Suite(.system) struct GalleryTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "manifests/gallery")

    /// A host with one manifest of the gallery, and a directory for the files of the test.
    private final class Rig {
        let host: HostProcess
        let files: URL

        init(_ name: String) throws {
            // The files belong to the user of the tests, so the tasks run as that user, too.
            let settings = FileManager.default.temporaryDirectory.appendingPathComponent(
                "gallery-\(UUID().uuidString).yaml")
            try Data("isolation: {users: none}\n".utf8).write(to: settings)
            host = try HostProcess("--config", settings.path)
            files = host.directory.appendingPathComponent("files")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
            try FileManager.default.copyItem(
                at: GalleryTests.folder.appending(path: name + ".yaml"),
                to: host.manifests.appendingPathComponent(name + ".yaml"))
            try host.start()
        }

        /// Submits a request and waits for its end. Every `$` in the payload stands for the directory.
        func submit(_ identifier: String, _ payload: String) -> HostProcess.Answer {
            host.run("submit", identifier, "--wait", "--payload", payload.replacing("$", with: files.path))
        }

        @discardableResult
        func python(_ program: String) throws -> String {
            let answer = Command.run("python3", "-c", "import os; os.chdir('\(files.path)')\n" + program)
            guard answer.status == 0 else { throw HostFailure(answer.output) }
            return answer.output
        }

        func text(_ name: String) throws -> String {
            try String(contentsOf: files.appendingPathComponent(name), encoding: .utf8)
        }

        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: files.appendingPathComponent(name))
        }
    }

    /// Whether the loader finds a library.
    private static func has(_ library: String) -> Bool { dlopen(library, RTLD_LAZY) != nil }

    @Test(.enabled(if: has("libarchive.so.13"), "libarchive13 is missing: .ci/packages gallery"))
    func `libarchive unpacks every entry of an archive, and none outside of the directory`() throws {
        let rig = try Rig("archive-unpack")
        try rig.python(
            """
            import io, tarfile
            def make(name, entries):
                with tarfile.open(name, 'w:gz') as tar:
                    for entry, text in entries:
                        member = tarfile.TarInfo(entry); member.size = len(text); member.mode = 0o640
                        tar.addfile(member, io.BytesIO(text))
            make('good.tar.gz', [(f'tree/{n}/file.txt', b'text %d' % n) for n in range(40)])
            make('evil.tar.gz', [('one.txt', b'1'), ('../outside.txt', b'2'), ('three.txt', b'3')])
            os.mkdir('out')
            """)
        let good = rig.submit(
            "org.libarchive.unpacking.archive", #"{"archive": "$/good.tar.gz", "directory": "$/out"}"#)
        #expect(good.status == 0, "\(good)")
        #expect(try rig.text("out/tree/39/file.txt") == "text 39")
        let evil = rig.submit(
            "org.libarchive.unpacking.archive", #"{"archive": "$/evil.tar.gz", "directory": "$/out"}"#)
        #expect(evil.status != 0)
        #expect(evil.output.contains("Path contains '..' (step 6.2, round 2)"), "\(evil)")
        #expect(try rig.text("out/one.txt") == "1")
        #expect(!FileManager.default.fileExists(atPath: rig.files.path + "/outside.txt"))
        #expect(rig.host.stop() == 0)
    }

    @Test func `SQLite copies a database in rounds, and the copy is whole`() throws {
        let rig = try Rig("sqlite-backup")
        try rig.python(
            """
            import sqlite3
            db = sqlite3.connect('app.sqlite')
            db.execute('CREATE TABLE t (text)')
            db.executemany('INSERT INTO t VALUES (?)', (('text %d ' % n * 40,) for n in range(5000)))
            db.commit()
            os.mkdir('copies')
            """)
        let answer = rig.submit(
            "org.sqlite.backup.database", #"{"database": "$/app.sqlite", "directory": "$/copies"}"#)
        #expect(answer.status == 0, "\(answer)")
        let found = try rig.python(
            """
            import sqlite3
            db = sqlite3.connect('copies/backup.sqlite')
            print(db.execute('PRAGMA integrity_check').fetchone()[0], db.execute('SELECT count(*) FROM t').fetchone()[0], end='')
            """)
        #expect(found == "ok 5000")
        #expect(rig.host.stop() == 0)
    }

    @Test func `zstd compresses a file at the level of the payload, or at the default`() throws {
        let rig = try Rig("zstd-compress")
        let text = (0..<50_000).map { "line \($0 * 7919 % 10_007)\n" }.joined()
        try rig.write("log.txt", text)
        var sizes: [Int] = []
        for level in ["", #", "level": 19"#] {
            let answer = rig.submit(
                "org.zstd.compression.file", #"{"directory": "$", "name": "log.txt"\#(level)}"#)
            #expect(answer.status == 0, "\(answer)")
            let unpacked = try rig.python(
                """
                import ctypes
                zstd, packed = ctypes.CDLL('libzstd.so.1'), open('log.txt.zst', 'rb').read()
                zstd.ZSTD_decompress.restype = ctypes.c_size_t
                out = ctypes.create_string_buffer(\(text.utf8.count))
                size = zstd.ZSTD_decompress(out, ctypes.c_size_t(len(out)), packed, ctypes.c_size_t(len(packed)))
                print(size, out.raw == open('log.txt', 'rb').read(), len(packed), end='')
                """
            ).split(separator: " ")
            #expect(unpacked.prefix(2) == ["\(text.utf8.count)", "True"])
            sizes.append(Int(unpacked.last ?? "") ?? 0)
        }
        #expect(sizes[1] < sizes[0], "\(sizes)")
        let none = rig.submit("org.zstd.compression.file", #"{"directory": "$", "name": "none"}"#)
        #expect("\(none)".contains("No such file or directory"), "\(none)")
        #expect(rig.host.stop() == 0)
    }

    @Test func `libsodium writes the checksum of a file as text`() throws {
        let rig = try Rig("sodium-checksum")
        try rig.write("disk.img", String(repeating: "sector", count: 100_000))
        let answer = rig.submit("org.libsodium.checksum.file", #"{"directory": "$", "name": "disk.img"}"#)
        #expect(answer.status == 0, "\(answer)")
        let expected = try rig.python(
            "import hashlib; print(hashlib.blake2b(open('disk.img', 'rb').read(), digest_size=32).hexdigest(), end='')"
        )
        #expect(try rig.text("disk.img.blake2b") == expected)
        #expect(rig.host.stop() == 0)
    }

    @Test(.enabled(if: has("libcurl.so.4"), "libcurl4 is missing: .ci/packages build"))
    func `curl downloads a file, and leaves none behind under its name if the server has none`() throws {
        let rig = try Rig("curl-download")
        let server = try TransferServer()
        let answer = rig.submit(
            "se.curl.download.file",
            #"{"url": "\#(server.address)/file/a?size=300000", "directory": "$", "name": "a"}"#)
        #expect(answer.status == 0, "\(answer)")
        #expect(try rig.host.hash("files/a") == server.hash("a", size: 300_000))
        let missing = rig.submit(
            "se.curl.download.file",
            #"{"url": "\#(server.address)/no/such/page", "directory": "$", "name": "b"}"#)
        #expect(
            "\(missing)".contains("curl_easy_perform returned 22, expected 0: HTTP response code said error"),
            "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: rig.files.path + "/b"))
        #expect(rig.host.stop() == 0)
    }

    @Test(.enabled(if: has("libxml2.so.2"), "libxml2 is missing: .ci/packages gallery"))
    func `libxml2 formats a file, and says what is wrong with one`() throws {
        let rig = try Rig("xml-format")
        try rig.write("in.xml", "<list><a>1</a><b/><c>3</c></list>")
        try rig.write("bad.xml", "<list><a>1</b></list>")
        let answer = rig.submit(
            "org.gnome.xml.format", #"{"file": "$/in.xml", "directory": "$", "name": "out.xml"}"#)
        #expect(answer.status == 0, "\(answer)")
        #expect(
            try rig.text("out.xml")
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<list>\n  <a>1</a>\n  <b/>\n  <c>3</c>\n</list>\n"
        )
        let bad = rig.submit(
            "org.gnome.xml.format", #"{"file": "$/bad.xml", "directory": "$", "name": "none.xml"}"#)
        #expect("\(bad)".contains("Opening and ending tag mismatch: a line 1 and b"), "\(bad)")
        #expect(rig.host.stop() == 0)
    }

    @Test(.enabled(if: has("libgit2.so.1.5"), "libgit2-1.5 is missing: .ci/packages gallery"))
    func `libgit2 fetches the commits of a remote`() throws {
        let rig = try Rig("git-fetch")
        // The remote is inside of the directory that the task may read.
        try rig.python(
            """
            import subprocess
            def git(*words): subprocess.run(('git', '-c', 'user.name=a', '-c', 'user.email=a@b', *words), check=True, stdout=2)
            git('init', '-q', 'mirror')
            git('init', '-q', 'mirror/remote')
            for n in range(5): git('-C', 'mirror/remote', 'commit', '-q', '--allow-empty', '-m', f'commit {n}')
            git('-C', 'mirror', 'remote', 'add', 'origin', os.getcwd() + '/mirror/remote')
            """)
        let answer = rig.submit("org.libgit2.fetching.repository", #"{"repository": "$/mirror"}"#)
        #expect(answer.status == 0, "\(answer)")
        let count = Command.run("git", "-C", rig.files.path + "/mirror", "rev-list", "--count", "--remotes")
        #expect(count.output == "5\n", "\(count)")
        let none = rig.submit(
            "org.libgit2.fetching.repository", #"{"repository": "$/mirror", "remote": "upstream"}"#)
        let reason = "git_remote_lookup returned -3, expected 0: remote 'upstream' does not exist"
        #expect(none.output.contains(reason), "\(none)")
        #expect(rig.host.stop() == 0)
    }

    @Test(.enabled(if: has("libpoppler-glib.so.8"), "libpoppler-glib8 is missing: .ci/packages gallery"))
    func `poppler writes the text of all pages of a document, in their order`() throws {
        let rig = try Rig("pdf-text")
        func page(_ number: Int, _ text: String) -> String {
            let stream = "BT /F1 24 Tf 20 100 Td (\(text)) Tj ET"
            return """
                \(number) 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents \(number + 1) 0 R
                /Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
                \(number + 1) 0 obj <</Length \(stream.utf8.count)>> stream
                \(stream)
                endstream endobj

                """
        }
        // Without a table of its objects, which a reader of PDF files can make again.
        try rig.write(
            "in.pdf",
            """
            %PDF-1.4
            1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
            2 0 obj <</Type /Pages /Kids [3 0 R 5 0 R 7 0 R] /Count 3>> endobj
            \(page(3, "First"))\(page(5, "Second"))\(page(7, "Third"))trailer <</Root 1 0 R>>
            %%EOF

            """)
        let answer = rig.submit(
            "org.freedesktop.poppler.text", #"{"file": "$/in.pdf", "directory": "$", "name": "out.txt"}"#)
        #expect(answer.status == 0, "\(answer)")
        let words = try rig.text("out.txt").split { $0.isWhitespace }
        #expect(words == ["First", "Second", "Third"])
        #expect(rig.host.stop() == 0)
    }

    @Test(.enabled(if: has("libvips.so.42"), "libvips42 is missing: .ci/packages gallery"))
    func `libvips writes a thumbnail in the format of its name, and says what is no image`() throws {
        let rig = try Rig("vips-thumbnail")
        try rig.python(
            """
            with open('in.ppm', 'wb') as file:
                file.write(b'P6 1600 800 255\\n' + bytes(n * 7 % 256 for n in range(1600 * 800 * 3)))
            open('no.jpg', 'w').write('no image')
            """)
        let answer = rig.submit(
            "org.libvips.thumbnail.image", #"{"file": "$/in.ppm", "directory": "$", "name": "small.png"}"#)
        #expect(answer.status == 0, "\(answer)")
        let small = try rig.python(
            "import struct; head = open('small.png', 'rb').read(24); print(head[1:4], *struct.unpack('>II', head[16:]), end='')"
        )
        #expect(small == "b'PNG' 320 160")
        let narrow = rig.submit(
            "org.libvips.thumbnail.image",
            #"{"file": "$/in.ppm", "directory": "$", "name": "small.jpg", "width": 100}"#)
        #expect(narrow.status == 0, "\(narrow)")
        #expect(try rig.python("print(open('small.jpg', 'rb').read(2).hex(), end='')") == "ffd8")
        let none = rig.submit(
            "org.libvips.thumbnail.image", #"{"file": "$/no.jpg", "directory": "$", "name": "none.png"}"#)
        #expect("\(none)".contains("vips_thumbnail returned -1, expected 0"), "\(none)")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: rig.files.path).contains("none.png"))
        #expect(rig.host.stop() == 0)
    }
}
