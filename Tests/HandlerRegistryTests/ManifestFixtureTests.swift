import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// Every manifest of Tests/Fixtures/Manifests, read with the public linter.
@Suite struct ManifestFixtureTests {
    static let folder = "\(repository)/Tests/Fixtures/Manifests"

    static func names(_ kind: String) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(kind)")
        return (files ?? []).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
    }

    /// The manifests of the gallery, below `manifests`.
    static let gallery =
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(repository)/manifests/gallery")) ?? [])
        .filter { $0.hasSuffix(".yaml") }.map { "gallery/" + $0.dropLast(5) }.sorted()

    @Test(arguments: names("bad"))
    func `a bad manifest is refused with the place, the finding and what to do`(name: String) throws {
        let file = "\(Self.folder)/bad/\(name).yaml"
        let expected = try String(contentsOfFile: "\(Self.folder)/bad/\(name).expected", encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let found = ManifestLinter.lint(files: [file], pluginsDirectory: nil).map {
            $0.description.replacing(file + ":", with: "")
        }
        #expect(!expected.isEmpty)
        for line in expected {
            #expect(
                found.contains { $0 == line || (line == "error: " && $0.contains(line)) },
                "\(name): found \(found)")
        }
        #expect(found.count == expected.count, "\(name): found \(found)")
    }

    @Test(arguments: names("good"))
    func `a good manifest has no problem`(name: String) {
        #expect(ManifestLinter.lint(files: ["\(Self.folder)/good/\(name).yaml"], pluginsDirectory: nil) == [])
    }

    @Test(
        arguments: ["sqlite-vacuum", "zlib-compress", "cache-warmer", "treehasher", "feedrefresher"]
            + gallery)
    func `a shipped manifest has no problem`(name: String) {
        #expect(
            ManifestLinter.lint(files: ["\(repository)/manifests/\(name).yaml"], pluginsDirectory: nil) == [])
    }

    @Test func `all problems of a file are told at once, from the top`() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "data/a.yaml", "apiVersion: bgtask/v9\nbundle: 'a b'\nlibary: x\ntasks:\n  - kind: proces\n")
        let lines = ManifestLinter.lint(files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil).map(
            \.line)
        #expect(lines == [1, 2, 3, 5, 5, 5])
    }

    @Test func `a file over 64 KiB is refused before it is parsed`() throws {
        let folder = try TemporaryFolder()
        try folder.write("data/a.yaml", String(repeating: "# and so on\n", count: 6000))
        let problems = ManifestLinter.lint(files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil)
        #expect(problems.count == 1)
        #expect(problems.first?.finding.contains("the limit is 65536") == true)
    }

    @Test func `a list of a call that is too long for the runner is refused with its limit`() throws {
        let folder = try TemporaryFolder()
        func list(_ count: Int, _ item: (Int) -> String) -> String {
            (0..<count).map(item).joined(separator: ", ")
        }
        func findings(callbacks: String = "", steps: [String]) throws -> [String] {
            try folder.write(
                "data/a.yaml",
                """
                apiVersion: bgtask/v1
                bundle: com.example.a
                modes: [processing]
                tasks:
                  - identifier: com.example.a.call
                    kind: processing
                    call:
                      library: libc.so.6
                      callbacks: {\(callbacks)}
                      steps:
                \(steps.map { "        - {function: puts, \($0)}" }.joined(separator: "\n"))

                """)
            return ManifestLinter.lint(files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil)
                .filter { $0.severity == .error }.map(\.finding)
        }
        /// Steps with this many names in all, at most 32 in each step.
        func naming(_ count: Int) -> [String] {
            stride(from: 0, to: count, by: 32).map { first in
                "arguments: [\(list(min(32, count - first)) { "{out: int, as: n\(first + $0)}" })]"
            }
        }
        func expect(_ value: Int) -> [String] { ["returns: int, expect: [\(list(value) { "\($0)" })]"] }
        func parameters(_ count: Int) -> String { "c: {parameters: [\(list(count) { _ in "int" })]}" }
        let plain = ["returns: int"]

        // A wrong position is one mistake, and not also a missing key.
        #expect(
            try findings(callbacks: "c: {parameters: [long, long], completed: 9, total: 2}", steps: plain)
                .count
                == 1)
        #expect(try findings(callbacks: list(1023) { "c\($0): {}" }, steps: plain) == [])
        #expect(
            try findings(callbacks: list(1024) { "c\($0): {}" }, steps: plain)
                == ["there are 1024 callbacks; the limit is 1023"])
        #expect(try findings(callbacks: parameters(32), steps: plain) == [])
        #expect(
            try findings(callbacks: parameters(33), steps: plain)
                == ["there are 33 parameters; the limit is 32"])
        #expect(try findings(steps: naming(1023)) == [])
        #expect(try findings(steps: naming(1024)) == ["there are 1024 names; the limit is 1023"])
        #expect(try findings(steps: expect(255)) == [])
        #expect(try findings(steps: expect(256)) == ["there are 256 values in 'expect'; the limit is 255"])
        func ends(_ count: Int) -> [String] { naming(256) + ["ends: [\(list(count) { "n\($0)" })]"] }
        #expect(try findings(steps: ends(255)) == [])
        #expect(try findings(steps: ends(256)) == ["there are 256 names in 'ends'; the limit is 255"])
    }

    @Test(arguments: ["[", "- ", "{a: "])
    func `nesting without end is refused and does no harm`(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("data/a.yaml", String(repeating: text, count: 60_000 / text.count))
        let problems = ManifestLinter.lint(files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil)
        #expect(problems.contains { $0.severity == .error })
    }

    @Test
    func `a manifest cut before its first task is refused at every length, and none brings the reader down`()
        throws
    {
        let folder = try TemporaryFolder()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(repository)/manifests/sqlite-vacuum.yaml"))
        let firstTask = try #require(bytes.firstRange(of: Data("- identifier".utf8))).lowerBound
        let file = URL(fileURLWithPath: folder.path + "/data/a.yaml")
        for length in stride(from: 0, to: bytes.count, by: 7) {
            try bytes.prefix(length).write(to: file)
            // After the first task, a cut can leave a shorter but valid manifest. Then the reader must only
            // return.
            let problems = ManifestLinter.lint(files: [file.path], pluginsDirectory: nil)
            #expect(length > firstTask || problems.contains { $0.severity == .error })
        }
    }
}
