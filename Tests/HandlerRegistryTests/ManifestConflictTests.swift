import StrictFiles
import TaskModel
import Testing

@testable import HandlerRegistry

/// Which manifests claim the same identifiers, and the cost of finding them.
@Suite struct ManifestConflictTests {
    private func entry(_ file: String, _ bundle: String, _ patterns: [String]) throws
        -> ManifestConflicts.Entry
    {
        let tasks = try patterns.map {
            TaskDeclaration(pattern: try IdentifierPattern($0), kind: .processing)
        }
        let manifest = Manifest(
            bundle: try BundleIdentifier(bundle), library: nil, modes: [.processing], tasks: tasks,
            sandbox: SandboxDeclaration())
        return (
            file,
            ReadManifest(
                manifest: manifest, taskPlaces: tasks.indices.map { Place(line: $0 + 1, column: 1) },
                callPlaces: tasks.map { _ in nil }, conditionPlaces: tasks.map { _ in [] })
        )
    }

    /// Whether two patterns permit a common identifier: they are equal, or one is a wildcard that matches the
    /// other.
    private func overlap(_ left: IdentifierPattern, _ right: IdentifierPattern) -> Bool {
        left == right || left.isWildcard && left.matches(right.base)
            || right.isWildcard && right.matches(left.base)
    }

    @Test func `what is found is what a comparison of all pairs finds`() throws {
        var numbers = SeededNumbers(seed: 15)
        let labels = ["a", "b", "c.d", "c", "ab"]
        for _ in 0..<300 {
            var entries: [ManifestConflicts.Entry] = []
            for file in 0..<Int.random(in: 2...6, using: &numbers) {
                var patterns: Set<String> = []
                for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                    let names = (0...Int.random(in: 0...3, using: &numbers)).map { _ in
                        labels[Int.random(in: 0..<labels.count, using: &numbers)]
                    }
                    let isWildcard = Int.random(in: 0...2, using: &numbers) == 0
                    patterns.insert(names.joined(separator: ".") + (isWildcard ? ".*" : ""))
                }
                entries.append(try entry("\(file).yaml", "bundle\(file)", patterns.sorted()))
            }
            var expected: Set<String> = []
            for left in entries {
                for right in entries where right.file != left.file {
                    for (number, task) in left.read.manifest.tasks.enumerated() {
                        for (other, claim) in right.read.manifest.tasks.enumerated()
                        where overlap(task.pattern, claim.pattern) {
                            expected.insert(
                                "\(left.file):\(number + 1) \(right.file):\(other + 1) also claims "
                                    + "'\(task.pattern)', as '\(claim.pattern)'; neither manifest is used")
                        }
                    }
                }
            }
            var looks = 0
            let all = ManifestConflicts.find(in: entries, mostOthers: .max, looks: &looks)
            let found = all.values.joined().map { problem in
                "\(problem.file):\(problem.line ?? 0) \(problem.finding)"
            }
            #expect(Set(found) == expected)
            #expect(found.count == expected.count, "each is reported once")
        }
    }

    @Test func `twice as many manifests take twice as many look-ups`() throws {
        func looks(_ count: Int) throws -> Int {
            let entries = try (0..<count).map {
                try entry("\($0).yaml", "org.b\($0)", ["org.b\($0).work", "org.b\($0).export.*"])
            }
            var looks = 0
            #expect(ManifestConflicts.find(in: entries, looks: &looks).isEmpty)
            return looks
        }
        let few = try looks(500)
        #expect(try looks(1000) == 2 * few)
        #expect(few == 500 * (1 + 3 + 3), "one for the bundle, one for each label of each pattern")
    }

    @Test func `a directory full of copies reports a few others for each`() throws {
        let entries = try (0..<200).map { try entry("\($0).yaml", "org.same", ["org.same.work"]) }
        let problems = ManifestConflicts.find(in: entries)
        #expect(problems.count == 200)
        #expect(problems.values.allSatisfy { $0.count == 2 * ManifestConflicts.mostOthers })
    }
}
