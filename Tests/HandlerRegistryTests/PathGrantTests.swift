import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// Paths in payloads, compared with the directories that manifests grant.
@Suite struct PathGrantTests {
    /// Directories of a test: the payload's `directory` grants FOLDER/data, and nothing grants FOLDER/other.
    private final class Place {
        let folder: TemporaryFolder
        let root: String

        init() throws {
            folder = try TemporaryFolder()
            try FileManager.default.createDirectory(
                atPath: folder.path + "/other", withIntermediateDirectories: false)
            // The path is resolved because /tmp itself may be a symbolic link.
            root = try folder.run("realpath", folder.path).trimmingCharacters(in: .newlines)
        }

        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: "\(root)/\(name)", withDestinationPath: target)
        }

        /// The refusal of a submission to a shipped manifest; `nil` if it is accepted.
        func refusal(_ manifest: String, _ payload: [String: String]) throws -> SubmissionError? {
            let filled = payload.mapValues { $0.replacing("FOLDER", with: root) }
            let json = String(decoding: try JSONEncoder().encode(filled), as: UTF8.self)
            do {
                _ = try folder.shipped(manifest, payload: json)
                return nil
            } catch let error as SubmissionError {
                #expect(error.code == .invalidRequest)
                return error
            }
        }
    }

    @Test(arguments: [
        "FOLDER/data/a.sqlite", "FOLDER/data/not/there/yet.sqlite", "FOLDER/data/../data/./a.sqlite",
        "FOLDER/data/inward/a.sqlite", "a.sqlite",
    ])
    func `a path inside a grant is taken, however it is written, whether or not it exists`(path: String)
        throws
    {
        let place = try Place()
        try place.link("data/inward", to: place.root + "/data")
        #expect(try place.refusal("sqlite-vacuum.yaml", ["directory": "FOLDER/data", "path": path]) == nil)
    }

    @Test(arguments: [
        ("FOLDER/other/a.sqlite", "FOLDER/other/a.sqlite"), ("/etc/passwd", "/etc/passwd"),
        ("FOLDER/database", "FOLDER/database"), ("FOLDER/data/../other/a.sqlite", "FOLDER/other/a.sqlite"),
        ("FOLDER/data/link/a.sqlite", "FOLDER/other/a.sqlite"),
        ("FOLDER/data/relative/a.sqlite", "FOLDER/other/a.sqlite"),
        ("FOLDER/data/dangling", "FOLDER/other/none"), ("FOLDER/data/chain", "FOLDER/other/none"),
        ("/", "/"), ("FOLDER", "FOLDER"),
    ])
    func `a path outside of every grant is refused, with what it leads to, the grants and the key to add`(
        path: String, real: String
    ) throws {
        let place = try Place()
        try place.link("data/link", to: place.root + "/other")
        try place.link("data/relative", to: "../other")
        try place.link("data/dangling", to: place.root + "/other/none")
        try place.link("data/chain", to: "dangling")
        let error = try #require(
            try place.refusal("sqlite-vacuum.yaml", ["directory": "FOLDER/data", "path": path]))
        #expect(error.subject == "org.sqlite.maintenance.vacuum")
        #expect(error.finding.contains(path.replacing("FOLDER", with: place.root)), "\(error)")
        #expect(error.finding.contains(real.replacing("FOLDER", with: place.root)), "\(error)")
        #expect(
            error.finding.contains("outside every grant of the manifest: ${payload.directory}"), "\(error)")
        #expect(error.finding.contains("(\(place.root)/data)"), "\(error)")
        #expect(error.remedy.contains(#"sandbox: {read: ["${payload.path}"]}"#), "\(error)")
    }

    @Test(arguments: ["../other/a.sqlite", "..", "data/../../x"])
    func `a relative path that goes up is refused`(path: String) throws {
        let place = try Place()
        let error = try #require(
            try place.refusal("sqlite-vacuum.yaml", ["directory": "FOLDER/data", "path": path]))
        #expect(error.finding.contains("which is relative"), "\(error)")
    }

    @Test(arguments: [
        ("relative", "which is relative"), ("", "which is relative"), ("~/x", "which is relative"),
        ("FOLDER/data/../../..", "which contains '..'"),
    ])
    func `a grant that the payload bends is refused`(directory: String, finding: String) throws {
        let place = try Place()
        for (manifest, others) in [
            ("sqlite-vacuum.yaml", ["path": "FOLDER/data/a.sqlite"]), ("cache-warmer.yaml", [:]),
        ] {
            let payload = others.merging(["directory": directory]) { $1 }
            let error = try #require(try place.refusal(manifest, payload))
            #expect(error.finding.contains("the grant '${payload.directory}'"), "\(error)")
            #expect(error.finding.contains(finding), "\(error)")
            #expect(error.remedy.contains("'directory'"), "\(error)")
        }
    }

    @Test
    func `a name that climbs out of the granted directory is refused where it is read and where it is saved`()
        throws
    {
        let place = try Place()
        let error = try #require(
            try place.refusal("zlib-compress.yaml", ["directory": "FOLDER/data", "name": "../other/log"]))
        #expect(
            error.finding.contains(
                "which is \(place.root)/other/log when links are followed, outside every"), "\(error)")
        // Only the written file is a link that leads out of the granted directory.
        try place.link("data/log.zz", to: place.root + "/other/log")
        let saved = try #require(
            try place.refusal("zlib-compress.yaml", ["directory": "FOLDER/data", "name": "log"]))
        #expect(saved.finding.contains("outside every write grant"), "\(saved)")
        #expect(saved.remedy.contains(#"sandbox: {write: ["${payload.directory}"]}"#), "\(saved)")
    }

    // MARK: Grants in manifests

    private static func manifest(_ sandbox: String, call: String? = nil) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [processing]
        tasks:
          - identifier: com.example.a.call
            kind: processing
            payload: {name: string}
            call:
              library: libc.so.6
              steps:
                - \(call ?? #"{function: strlen, returns: size, arguments: [{string: "${payload.name}"}]}"#)
        sandbox: \(sandbox)

        """
    }

    private func refusal(
        _ folder: TemporaryFolder, _ manifest: String, name: String, dataDirectory: String? = nil
    ) throws -> SubmissionError? {
        try folder.write("manifests/a.yaml", manifest)
        let snapshot = folder.registry.scan()
        let read = try #require(snapshot.handlers.first?.manifest, "\(snapshot.problems)")
        let json = String(decoding: try JSONEncoder().encode(["name": name]), as: UTF8.self)
        do {
            try read.checkPayload(
                json, for: TaskIdentifier("com.example.a.call"), dataDirectory: dataDirectory)
            return nil
        } catch let error as SubmissionError {
            return error
        }
    }

    @Test func `a grant may go on from a fixed directory, and the payload can't lead it out of there`() throws
    {
        let place = try Place()
        let manifest = Self.manifest("{write: [\"\(place.root)/data/${payload.name}\"]}")
        #expect(try refusal(place.folder, manifest, name: "a") == nil)
        let up = try #require(try refusal(place.folder, manifest, name: "../other"))
        #expect(up.finding.contains("which contains '..'"), "\(up)")
        for name in ["", ".", "/", "./"] {
            let same = try #require(try refusal(place.folder, manifest, name: name), "'\(name)'")
            #expect(same.finding.contains("which is \(place.root)/data itself"), "\(same)")
        }
        try place.link("data/link", to: place.root + "/other")
        let linked = try #require(try refusal(place.folder, manifest, name: "link"))
        #expect(
            linked.finding.contains(
                "which is \(place.root)/other when links are followed, outside of \(place.root)/data"),
            "\(linked)")
    }

    @Test func `a read grant is none for what is saved, and a write grant is one for both`() throws {
        let place = try Place()
        let call =
            #"{function: strlen, returns: size, arguments: [{file: "${payload.name}", as: file}]}"#
            + "\n        - save: {from: file, length: 1, to: \"${payload.name}.new\"}"
        let path = place.root + "/data/x"
        let read = try #require(
            try refusal(place.folder, Self.manifest("{read: [\(place.root)/data]}", call: call), name: path))
        #expect(
            read.finding.contains("outside every write grant of the manifest; the manifest has none"),
            "\(read)")
        let both = Self.manifest("{write: [\(place.root)/data]}", call: call)
        #expect(try refusal(place.folder, both, name: path) == nil)
        let relative = try #require(try refusal(place.folder, both, name: "x"))
        #expect(relative.finding.contains("which is relative"), "\(relative)")
    }

    @Test func `texts that are no paths need no grant, and the bundle's own directory has one`() throws {
        let place = try Place()
        let manifest = Self.manifest("{}")
        for text in ["plain", "SELECT 1/2", "a..b", "https://example.com/", ""] {
            #expect(try refusal(place.folder, manifest, name: text) == nil)
        }
        let path = place.root + "/data/x"
        #expect(
            try refusal(place.folder, manifest, name: path)?.finding.contains("the manifest has none") == true
        )
        #expect(try refusal(place.folder, manifest, name: path, dataDirectory: place.root + "/data") == nil)
    }

    @Test func `a home directory is granted by its tilde`() throws {
        let place = try Place()
        let home = try #require(ProcessInfo.processInfo.environment["HOME"])
        let manifest = Self.manifest("{read: [~/Pictures]}")
        #expect(try refusal(place.folder, manifest, name: home + "/Pictures/a.jpg") == nil)
        #expect(try refusal(place.folder, manifest, name: home + "/Documents/a.txt") != nil)
    }

    @Test func `links that go round in a circle are refused`() throws {
        let place = try Place()
        try place.link("data/round", to: "circle")
        try place.link("data/circle", to: "round")
        let error = try #require(
            try refusal(
                place.folder, Self.manifest("{read: [\(place.root)/data]}"), name: place.root + "/data/round")
        )
        #expect(error.finding.contains("can't be followed"), "\(error)")
    }
}
