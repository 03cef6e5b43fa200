import Foundation
import HandlerRegistry
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@Suite(.system) struct HandlerRegistryTests {
    static func manifest(_ bundle: String, library: String = "libA.so", task: String = "work") -> String {
        """
        apiVersion: bgtask/v1
        bundle: \(bundle)
        library: \(library)
        modes: [processing]
        tasks:
          - identifier: \(bundle).\(task)
            kind: processing

        """
    }

    @Test func `a library and a manifest make a handler, whose library is a read-only copy`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let snapshot = folder.registry.scan()
        #expect(snapshot.problems == [])
        let handler = try #require(snapshot.handlers.first)
        let path = try #require(handler.libraryPath)
        #expect(path.hasSuffix("/cache/\(handler.libraryHash ?? "-")/libA.so"))
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: folder.path + "/plugins/libA.so"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o555)
        #expect(snapshot == folder.registry.scan(), "a fresh registry must find the same")
    }

    @Test func `a library without the entry function of plugins is reported, installed or not`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }", isPlugin: false)
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let finding = "library 'libA.so' does not export bgtask_plugin_entry, so its tasks can't run"
        let scanned = try #require(folder.registry.scan().problems.first)
        #expect(scanned.severity == .warning && scanned.finding == finding && scanned.line == 3)
        let file = folder.path + "/manifests/a.yaml"
        let linted = ManifestLinter.lint(files: [file], pluginsDirectory: folder.path + "/plugins")
        #expect(linted.map(\.finding) == [finding])
        try folder.compile("libA.so", "int a(void) { return 1; }")
        #expect(folder.registry.scan().problems == [])
    }

    @Test func `a FIFO or a directory with the name of a manifest is called so`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/manifests/b.yaml", withIntermediateDirectories: true)
        let file = folder.path + "/manifests/a.yaml"
        #expect(mkfifo(file, 0o600) == 0)
        let problems = folder.registry.scan().problems
        #expect(
            problems.map(\.finding) == [
                "it is a FIFO, and not a regular file", "it is a directory, and not a regular file",
            ])
        #expect(problems.first?.remedy?.hasPrefix("Put a regular file there") == true)
        let linted = ManifestLinter.lint(files: [file], pluginsDirectory: folder.path + "/plugins")
        #expect(linted.map(\.finding) == ["it is a FIFO, and not a regular file"])
    }

    @Test func `the hash is SHA-256 over the names and hashes of the library and the siblings that it needs`()
        throws
    {
        let folder = try TemporaryFolder()
        try folder.compile("libSibling.so", "int sibling(void) { return 7; }", "-Wl,-soname,libSibling.so")
        try folder.compile(
            "libA.so", "int sibling(void); int a(void) { return sibling(); }",
            folder.path + "/plugins/libSibling.so")
        try folder.compile("libOther.so", "int other(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let handler = try #require(folder.registry.scan().handlers.first)
        let directory = "\(folder.path)/cache/\(handler.libraryHash ?? "-")"
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
                "libA.so", "libSibling.so",
            ])
        let sum = try folder.run(
            "sh", "-c",
            "cd \(folder.path)/plugins && for f in libA.so libSibling.so; do echo \"$f $(sha256sum <$f | cut -d' ' -f1)\"; done | sha256sum"
        )
        #expect(sum.hasPrefix(handler.libraryHash ?? "-"))
    }

    @Test func `a copy goes when no manifest names it and nobody uses it`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.compile("libB.so", "int b(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        try folder.write("manifests/b.yaml", Self.manifest("com.example.b", library: "libB.so"))
        func copies() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/cache"))
        }
        let registry = folder.registry
        #expect(try registry.removeUnusedCopies(keeping: []) == 0, "nothing is known before the first scan")
        let first = registry.scan().handlers.compactMap(\.libraryHash)
        #expect(first.count == 2)
        #expect(try registry.removeUnusedCopies(keeping: []) == 0)
        #expect(try copies() == Set(first))
        try folder.compile("libA.so", "int a(void) { return 2; }")
        try folder.remove("manifests/b.yaml")
        let second = registry.scan().handlers.compactMap(\.libraryHash)
        #expect(second.count == 1 && second != [first[0]])
        #expect(try copies() == Set(first + second))
        #expect(try registry.removeUnusedCopies(keeping: [first[0]]) == 1)
        #expect(try copies() == [first[0], second[0]])
        #expect(try registry.removeUnusedCopies(keeping: []) == 1)
        #expect(try copies() == [second[0]])
    }

    @Test func `a broken library keeps its last copy until its manifest goes`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let registry = folder.registry
        let hash = try #require(registry.scan().handlers.first?.libraryHash)
        try folder.write("plugins/libA.so", "no library")
        #expect(registry.scan().handlers.first?.libraryHash == hash)
        #expect(try registry.removeUnusedCopies(keeping: []) == 0)
        try folder.remove("manifests/a.yaml")
        #expect(registry.scan().handlers == [])
        #expect(try registry.removeUnusedCopies(keeping: []) == 1)
    }

    @Test func `an unchanged library is not read again, a changed one is`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let registry = folder.registry
        let library = folder.path + "/plugins/libA.so"
        /// The access time of the file; some mounts do not update it, and the test then reports that.
        func lastRead() throws -> String { try folder.run("stat", "-c", "%x", library) }
        while !(try FileIdentity(of: library).isSettled) {}
        let first = try #require(registry.scan().handlers.first?.libraryHash)
        // The access time is far in the past, so that the next read updates it on every mount but one with
        // noatime.
        try folder.run("touch", "-a", "-d", "2001-01-01", library)
        while !(try FileIdentity(of: library).isSettled) {}
        _ = registry.scan()
        let moved = try lastRead()
        if moved.hasPrefix("2001-01-01") {
            print("skipped: this mount does not keep the time of reading")
            return
        }
        try folder.run("touch", "-a", "-d", "2001-01-01", library)
        while !(try FileIdentity(of: library).isSettled) {}
        _ = registry.scan()
        let third = try lastRead()
        #expect(!third.hasPrefix("2001"), "touch changed the inode, so it is read once more")
        for _ in 0..<3 { #expect(registry.scan().handlers.first?.libraryHash == first) }
        #expect(try lastRead() == third)
        try folder.compile("libA.so", "int a(void) { return 2; }")
        #expect(registry.scan().handlers.first?.libraryHash != first)
    }

    @Test func `two manifests that claim one identifier are both refused and both named`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        let claim = Self.manifest("com.example").replacing("com.example.work", with: "com.example.a.work")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        try folder.write("manifests/b.yaml", claim)
        try folder.write("manifests/c.yaml", Self.manifest("com.example.c"))
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers.map(\.manifest.bundle.rawValue) == ["com.example.c"])
        #expect(snapshot.problems.count == 2)
        #expect(snapshot.problems.first?.description.contains("b.yaml:6") == true)
        #expect(snapshot.problems.last?.description.contains("a.yaml:6") == true)
    }

    @Test func `two manifests of one bundle are both refused and both named`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        try folder.write("manifests/b.yaml", Self.manifest("com.example.a", task: "other"))
        try folder.write("manifests/c.yaml", Self.manifest("com.example.c"))
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers.map(\.manifest.bundle.rawValue) == ["com.example.c"])
        #expect(snapshot.problems.count == 2)
        let sentences = snapshot.problems.map(\.description).sorted()
        #expect(
            sentences.first?.contains("a.yaml:2") == true
                && sentences.first?.contains("also has a manifest in") == true)
        #expect(sentences.last?.contains("b.yaml:2") == true)
    }

    @Test func `a missing library is told at the manifest's line`() throws {
        let folder = try TemporaryFolder()
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.line == 3)
        #expect(
            snapshot.problems.first?.finding.contains("'libA.so' is not in the plugins directory") == true)
    }

    @Test func `a library that is too large is refused before it is read`() throws {
        let folder = try TemporaryFolder()
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        try folder.write("plugins/libA.so", "x")
        // The file has a hole, so it needs no space.
        let file = try #require(FileHandle(forWritingAtPath: folder.path + "/plugins/libA.so"))
        try file.truncate(atOffset: 513 << 20)
        try file.close()
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.finding.contains("the limit is 512 MiB") == true)
    }

    @Test func `a link that leads out of the plugins directory is refused`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/plugins/libA.so",
            withDestinationPath: "/usr/lib/x86_64-linux-gnu/libz.so.1")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.finding.contains("points outside the plugins directory") == true)
    }

    @Test(.enabled(if: getuid() == 0, "only root's host refuses these"))
    func `a manifest or library that others may write is untrusted when the host is root`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"), mode: 0o666)
        #expect(folder.registry.scan().problems.first?.finding.hasPrefix("untrusted: ") == true)
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        try folder.run("chmod", "g+w", folder.path + "/plugins/libA.so")
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.finding.hasPrefix("untrusted: ") == true)
    }

    @Test func `a half-written manifest or library leaves the old version active and shows the problem`()
        throws
    {
        let folder = try TemporaryFolder()
        let registry = folder.registry
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let right = registry.scan()
        try folder.write("manifests/a.yaml", String(Self.manifest("com.example.a").dropLast(20)))
        let half = registry.scan()
        #expect(half.handlers == right.handlers)
        #expect(half.problems.contains { $0.severity == .error })
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let library = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/plugins/libA.so"))
        try library.prefix(library.count / 2).write(
            to: URL(fileURLWithPath: folder.path + "/plugins/libA.so"))
        let cut = registry.scan()
        #expect(cut.handlers == right.handlers)
        #expect(cut.problems.first?.finding.contains("the file is truncated") == true)
        try folder.remove("manifests/a.yaml")
        #expect(registry.scan().handlers == [])
    }

    @Test(.timeLimit(.minutes(2)))
    func `files that come, change and go are noticed, written in one piece or byte by byte`() async throws {
        let folder = try TemporaryFolder()
        let registry = folder.registry
        try folder.compile("libA.so", "int a(void) { return 1; }")
        var changes = try registry.changes().makeAsyncIterator()
        func next(where isRight: (RegistrySnapshot) -> Bool) async -> RegistrySnapshot? {
            while let snapshot = await changes.next() { if isRight(snapshot) { return snapshot } }
            return nil
        }
        try folder.write("manifests/a.yaml", Self.manifest("com.example.a"))
        let first = await next { $0.handlers.count == 1 }
        #expect(first?.problems == [])

        let url = URL(fileURLWithPath: folder.path + "/manifests/b.yaml")
        _ = FileManager.default.createFile(
            atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o644])
        let handle = try FileHandle(forWritingTo: url)
        for byte in Self.manifest("com.example.b").utf8 { try handle.write(contentsOf: [byte]) }
        try handle.close()
        let second = await next { $0.handlers.count == 2 && $0.problems.isEmpty }
        #expect(second == folder.registry.scan(), "a fresh registry must find the same")

        try folder.compile("libA.so", "int a(void) { return 2; }")
        let changed = await next {
            $0.handlers.count == 2 && $0.handlers.first?.libraryHash != first?.handlers.first?.libraryHash
        }
        #expect(changed != nil)

        try folder.remove("plugins/libA.so")
        #expect(await next { $0.handlers.isEmpty } != nil)

        // Another directory takes the place of the whole directory.
        try folder.compile("libA.so", "int a(void) { return 3; }")
        #expect(await next { $0.handlers.count == 2 } != nil)
        try FileManager.default.moveItem(atPath: folder.path + "/manifests", toPath: folder.path + "/old")
        #expect(await next { $0.handlers.isEmpty } != nil)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/manifests", withIntermediateDirectories: false)
        try folder.write("manifests/c.yaml", Self.manifest("com.example.c"))
        #expect(await next { $0.handlers.map(\.manifest.bundle.rawValue) == ["com.example.c"] } != nil)
    }
}
