import TaskModel
import Testing

@testable import Scheduling

/// Which manifest permits an identifier, and the cost of finding it.
@Suite struct PermitsTests {
    private func manifest(_ bundle: String, _ patterns: some Sequence<String>) throws -> Manifest {
        Manifest(
            bundle: try BundleIdentifier(bundle), library: "lib.so", modes: [.processing],
            tasks: try patterns.map {
                TaskDeclaration(pattern: try IdentifierPattern($0), kind: .processing)
            },
            sandbox: SandboxDeclaration())
    }

    @Test func `the owner is the one that a walk over all manifests finds`() throws {
        var numbers = SeededNumbers(seed: 15)
        func name(_ most: Int) -> String {
            (0...Int.random(in: 0...most, using: &numbers)).map { _ in
                ["a", "b", "ab", "a.b"][Int.random(in: 0...3, using: &numbers)]
            }.joined(separator: ".")
        }
        for _ in 0..<300 {
            var taken: Set<String> = []
            var manifests: [Manifest] = []
            for number in 0..<Int.random(in: 1...5, using: &numbers) {
                var patterns: Set<String> = []
                for _ in 0..<4 {
                    let pattern = name(3) + (Int.random(in: 0...1, using: &numbers) == 0 ? ".*" : "")
                    // The registry refuses two manifests that claim the same pattern.
                    if taken.insert(pattern).inserted { patterns.insert(pattern) }
                }
                manifests.append(try manifest("bundle\(number)", patterns.sorted()))
            }
            let permits = Permits(manifests)
            for _ in 0..<20 {
                let identifier = try TaskIdentifier(name(4))
                let matching = manifests.flatMap { manifest in
                    manifest.tasks.filter { $0.pattern.matches(identifier) }.map { (manifest.bundle, $0) }
                }
                let best = matching.max { left, right in
                    (left.1.pattern.isWildcard ? 0 : 1, left.1.pattern.base.rawValue.utf8.count)
                        < (right.1.pattern.isWildcard ? 0 : 1, right.1.pattern.base.rawValue.utf8.count)
                }
                let owner = permits.owner(of: identifier)
                #expect(owner?.manifest.bundle == best?.0 && owner?.declaration == best?.1)
                #expect(permits.permits(IdentifierPattern(exactly: identifier)) == (best != nil))
                for manifest in manifests {
                    #expect(
                        permits.declaration(for: identifier, of: manifest.bundle)
                            == manifest.declaration(for: identifier))
                }
                let wildcard = try IdentifierPattern("\(identifier).*")
                let isCovered = manifests.flatMap(\.tasks).contains {
                    $0.pattern == wildcard || $0.pattern.isWildcard && $0.pattern.matches(identifier)
                }
                #expect(permits.permits(wildcard) == isCovered)
            }
        }
    }

    @Test func `a look-up tries one wildcard for each label but the last`() throws {
        func tried(_ name: String) throws -> [String] { Permits.wildcards(over: try TaskIdentifier(name)) }
        #expect(try tried("org.example.export.video") == ["org.example.export", "org.example", "org"])
        #expect(try tried("org") == [])
        #expect(try tried("org.") == [])
        #expect(try tried(".a..b") == [".a.", ".a"])
    }
}
