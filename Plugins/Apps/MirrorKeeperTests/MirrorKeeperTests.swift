import BackgroundTasks
import BackgroundTasksTesting
import Testing

@testable import MirrorKeeper

/// Mirrors of a folder that a small HTTP server on this machine serves.
@Suite(.timeLimit(.minutes(1))) struct MirrorKeeperTests {
    private static let permitted: [String: TestApp.Kind] = [MirrorKeeperPlugin.identifier: .processing]

    @Test func `SHA-256 is the one of the standard`() {
        // The examples of FIPS 180-2, appendix B, and a length whose padding needs a second block.
        #expect(
            SHA256.hex(of: Data("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            SHA256.hex(of: Data("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            SHA256.hex(of: Data()) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func `paths that lead out of the mirror are refused`() {
        for path in ["../x", "/x", "a/../../x", "", "a//b", "."] {
            let text = #"{"files": [{"path": "\#(path)"}]}"#
            #expect(throws: MirrorProblem.self, "\(path)") { try Catalogue.read(Data(text.utf8)) }
        }
        #expect(throws: MirrorProblem.self) {
            try Catalogue.read(Data(#"{"files": [{"path": "a"}, {"path": "a"}]}"#.utf8))
        }
    }

    @Test func `a mirror is filled, kept, mended and pruned`() async throws {
        let server = try Server()
        let mirror = Mirror(catalogue: server.catalogue, folder: server.folder("mirror"))
        try server.publish(["a.txt": "one", "sub/b ä.txt": "two", "c.txt": "three"])
        let progress = Progress(totalUnitCount: 0)
        #expect(try await mirror.update(progress) == Update(fetched: 3))
        #expect(progress.fractionCompleted == 1)
        #expect(try server.text(of: "mirror/sub/b ä.txt") == "two")

        #expect(try await mirror.update(Progress(totalUnitCount: 0)) == Update(same: 3))

        try Data("spoilt".utf8).write(to: server.folder("mirror/a.txt"))
        try server.publish(["a.txt": "one", "d.txt": "four"])
        #expect(try await mirror.update(Progress(totalUnitCount: 0)) == Update(fetched: 2, pruned: 2))
        #expect(try server.text(of: "mirror/a.txt") == "one")
        #expect(!FileManager.default.fileExists(atPath: server.folder("mirror/sub").path))
    }

    @Test func `without hashes the server is asked what has changed`() async throws {
        let server = try Server()
        let mirror = Mirror(catalogue: server.catalogue, folder: server.folder("mirror"))
        try server.publish(["a.txt": "one"], hashes: false)
        #expect(try await mirror.update(Progress(totalUnitCount: 0)) == Update(fetched: 1))
        // Python's server answers 304 to If-Modified-Since.
        #expect(try await mirror.update(Progress(totalUnitCount: 0)) == Update(same: 1))
    }

    @Test func `a file with another hash, or none at all, fails alone`() async throws {
        let server = try Server()
        let mirror = Mirror(catalogue: server.catalogue, folder: server.folder("mirror"))
        try server.publish(["a.txt": "one", "b.txt": "two", "c.txt": "three"])
        try Data("other".utf8).write(to: server.folder("served/b.txt"))
        try FileManager.default.removeItem(at: server.folder("served/c.txt"))
        #expect(try await mirror.update(Progress(totalUnitCount: 0)) == Update(fetched: 1, failed: 2))
        #expect(!FileManager.default.fileExists(atPath: server.folder("mirror/b.txt").path))
    }

    @Test func `the handler completes, asks for tomorrow, and stops when it expires`() async throws {
        let server = try Server()
        try server.publish(["a.txt": "one"])
        let before = FileManager.default.currentDirectoryPath
        try await withTestApp(permitting: Self.permitted) { app in
            #expect(FileManager.default.changeCurrentDirectoryPath(server.root.path))
            defer { _ = FileManager.default.changeCurrentDirectoryPath(before) }
            app.start(MirrorKeeperPlugin.self)
            let payload = try JSONEncoder().encode(["catalogue": server.catalogue.absoluteString])
            let launch = try app.launch(MirrorKeeperPlugin.identifier, payload: payload)
            #expect(await launch.ended() == .completed(success: true))
            #expect(try server.text(of: "mirror/a.txt") == "one")
            let next = try #require(app.pending.first as? BGProcessingTaskRequest)
            #expect(next.payload == payload && next.requiresNetworkConnectivity)

            let silent = try Silence()
            let slow = try app.launch(
                MirrorKeeperPlugin.identifier,
                payload: JSONEncoder().encode(["catalogue": "http://127.0.0.1:\(silent.port)/catalogue.json"])
            )
            await slow.listening()
            slow.expire(.networkLost)
            #expect(await slow.ended() == .completed(success: false))
            // Expiration must have cancelled the request, not a timeout.
            #expect(app.log.contains { $0.contains("cancelled") }, "\(app.log)")
        }
    }
}
