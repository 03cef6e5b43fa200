import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// Definitions of custom conditions, read with the public linter and the registry.
@Suite struct ConditionFileTests {
    static let docked = """
        apiVersion: bgtask/v1
        condition: docked
        source: {command: [/bin/test, -e, /dev/null], interval: 30s, timeout: 2s}
        predicate: {equals: 0}
        """
    static let lid = """
        apiVersion: bgtask/v1
        condition: lid-closed
        source: {file: /run/lid}
        predicate: {matches: "^closed$"}
        """
    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [processing]
        tasks:
          - identifier: com.example.a.sync
            kind: processing
            requiresConditions: [docked, lid-closed]
            call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}
        """

    /// The linter's findings for one file.
    static func lint(_ text: String, named name: String = "conditions.d/x.yaml") throws -> [String] {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/conditions.d", withIntermediateDirectories: true)
        try folder.write(name, text)
        return ManifestLinter.lint(files: ["\(folder.path)/\(name)"], pluginsDirectory: nil).map {
            "\($0)".replacingOccurrences(of: folder.path + "/", with: "")
        }
    }

    @Test(arguments: [docked, lid])
    func `a definition is right`(text: String) throws {
        #expect(try Self.lint(text) == [])
    }

    @Test(arguments: [
        ("condition: docked", "condition: power", "2:12: error: 'power' is a built-in condition"),
        ("condition: docked", "condition: Docked", "2:12: error: not a valid condition name: 'Docked'"),
        (
            "predicate:", "predicates:",
            "4:1: error: unknown key 'predicates' in the condition. Did you mean 'predicate'?"
        ),
        (
            "{equals: 0}", "{equals: 0, above: 3}",
            "4:12: error: predicate must have exactly one comparison, found 2"
        ),
        (
            "{equals: 0}", "{above: warm}",
            "4:20: error: above must be a number, found 'warm'. Write it without quotes, such as 20"
        ),
        ("{equals: 0}", "{matches: '('}", "4:22: error: '(' is not a valid regular expression"),
        (
            "{equals: 0}", "{equals: true}",
            "4:21: error: equals must be text or a number, found true. Put it in quotes"
        ),
        (
            "/bin/test", "test",
            "3:20: error: command's program must be an absolute path without '..', found 'test'"
        ),
        ("timeout: 2s", "timeout: 30s", "3:71: error: timeout must be shorter than interval, which is 30s"),
        ("interval: 30s", "interval: 10ms", "3:57: error: interval is 10ms, outside 1s to 1d"),
        ("timeout: 2s", "value: status", "3:69: error: value 'status' is unknown"),
        ("timeout: 2s", "file: /run/lid", "error: 'command' can't be used with 'file'"),
        ("apiVersion: bgtask/v1\n", "", "error: 'apiVersion' is missing from the condition"),
    ])
    func `what is wrong with one is said with its place`(part: String, wrong: String, expected: String) throws
    {
        let found = try Self.lint(Self.docked.replacingOccurrences(of: part, with: wrong))
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test func `a required condition that nobody defines is a warning at its name`() throws {
        let found = try Self.lint(Self.manifest, named: "manifests/a.yaml")
        #expect(found.count == 2)
        #expect(
            found.first?.hasPrefix(
                "manifests/a.yaml:7:26: warning: no file in conditions.d defines 'docked', so com.example.a.sync waits"
            )
                == true, "\(found)")
        let wrong = Self.manifest.replacingOccurrences(of: "docked, lid-closed", with: "power, power, Lid")
        let errors = try Self.lint(wrong, named: "manifests/a.yaml")
        #expect(errors.contains { $0.contains("Use 'requiresExternalPower: true'") }, "\(errors)")
        #expect(errors.contains { $0.contains("not a valid condition name: 'Lid'") })
        let twice = Self.manifest.replacingOccurrences(of: "docked, lid-closed", with: "docked, docked")
        #expect(try Self.lint(twice, named: "manifests/a.yaml").contains { $0.contains("appears twice") })
    }

    @Test func `lint finds the definitions beside the manifests, in a directory, or among the files`() throws
    {
        let folder = try TemporaryFolder()
        for name in ["conditions.d", "elsewhere"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        try folder.write("manifests/a.yaml", Self.manifest)
        try folder.write("conditions.d/docked.yaml", Self.docked)
        try folder.write("elsewhere/lid.yaml", Self.lid)
        let (manifest, lid) = (folder.path + "/manifests/a.yaml", folder.path + "/elsewhere/lid.yaml")
        func findings(_ files: [String], in directory: String? = nil) -> [String] {
            ManifestLinter.lint(files: files, pluginsDirectory: nil, conditionsDirectory: directory).map(
                \.finding)
        }
        #expect(findings([manifest]).count == 1)
        #expect(findings([manifest], in: folder.path + "/elsewhere").first?.contains("'docked'") == true)
        #expect(findings([manifest, lid]) == [])
        try folder.write("elsewhere/again.yaml", Self.lid)
        #expect(findings([lid, folder.path + "/elsewhere/again.yaml"]).count == 2)
    }

    @Test func `the registry tells definitions that come, break, clash and go`() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path + "/conditions.d"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let registry = HandlerRegistry(
            manifestsDirectory: folder.path + "/manifests", pluginsDirectory: folder.path + "/plugins",
            libraryCacheDirectory: folder.path + "/cache", conditionsDirectory: directory)
        try folder.write("manifests/a.yaml", Self.manifest)
        #expect(registry.scan().problems.filter { $0.severity == .warning }.count == 2)
        try folder.write("conditions.d/docked.yaml", Self.docked)
        try folder.write("conditions.d/lid.yaml", Self.lid)
        var found = registry.scan()
        #expect(found.conditions.map(\.name) == ["docked", "lid-closed"])
        #expect(found.problems == [])
        #expect(found.handlers.first?.manifest.tasks.first?.requiredConditions == ["docked", "lid-closed"])
        try folder.write("conditions.d/lid.yaml", Self.lid + "\nnonsense: 1")
        found = registry.scan()
        #expect(
            found.conditions.map(\.name) == ["docked", "lid-closed"], "its last valid version stays active")
        #expect(found.problems.contains { $0.severity == .error && $0.line == 5 })
        try folder.write("conditions.d/lid.yaml", Self.docked)
        found = registry.scan()
        #expect(found.conditions == [], "neither of two that claim one name is used")
        #expect(found.problems.count { $0.finding.contains("also defines") } == 2)
        try folder.remove("conditions.d/lid.yaml")
        #expect(registry.scan().conditions.map(\.name) == ["docked"])
    }
}
