import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import HandlerRegistry

/// The cost of a scan: it reads only files that changed, and none if no change is possible.
@Suite(.system) struct RescanTests {
    /// Creates a folder with a library and `count` manifests, whose times are so old that any later change is
    /// visible.
    private func folder(of count: Int) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        for number in 0..<count { try write(number, folder) }
        settle("manifests/m\(count - 1).yaml", folder)
        return folder
    }

    private func write(_ number: Int, _ folder: TemporaryFolder, task: String = "work") throws {
        try folder.write(
            "manifests/m\(number).yaml", HandlerRegistryTests.manifest("com.example.m\(number)", task: task))
    }

    private func settle(_ name: String, _ folder: TemporaryFolder) {
        while (try? FileIdentity(ofEntry: "\(folder.path)/\(name)").isSettled) != true {}
    }

    @Test func `a second scan reads only the manifests that have changed`() throws {
        let folder = try folder(of: 5)
        let registry = folder.registry
        #expect(registry.scan().handlers.count == 5)
        #expect(registry.work.reads == 5)
        #expect(registry.scan().handlers.count == 5)
        #expect(registry.work.reads == 5)
        try write(3, folder, task: "other")
        settle("manifests/m3.yaml", folder)
        let changed = registry.scan()
        #expect(registry.work.reads == 6)
        #expect(changed == folder.registry.scan(), "a fresh registry must find the same")
        try folder.remove("manifests/m1.yaml")
        #expect(registry.scan().handlers.count == 4)
        #expect(registry.work.reads == 6)
    }

    @Test func `conflicts come and go with files that did not change`() throws {
        let folder = try folder(of: 3)
        let registry = folder.registry
        #expect(registry.scan().handlers.count == 3)
        try folder.write("manifests/twin.yaml", HandlerRegistryTests.manifest("com.example.m1"))
        #expect(
            registry.scan().handlers.map(\.manifest.bundle.rawValue) == ["com.example.m0", "com.example.m2"])
        try folder.remove("manifests/twin.yaml")
        #expect(registry.scan().handlers.count == 3)
        #expect(registry.work.reads == 4)
    }

    @Test(.enabled(if: getuid() == 0, "only root's host refuses these"))
    func `a directory that others may write makes known manifests untrusted`() throws {
        let folder = try folder(of: 2)
        let registry = folder.registry
        #expect(registry.scan().handlers.count == 2)
        try folder.run("chmod", "0777", folder.path + "/manifests")
        let snapshot = registry.scan()
        #expect(snapshot.problems.filter { $0.severity == .error }.count == 2)
        #expect(snapshot.problems.allSatisfy { $0.finding.hasPrefix("untrusted") || $0.severity == .warning })
    }

    @Test func `a library that a call needs is looked at although its manifest is as it was`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libC.so", "int work(void) { return 0; }")
        try folder.write(
            "manifests/c.yaml",
            """
            apiVersion: bgtask/v1
            bundle: com.example.c
            modes: [processing]
            tasks:
              - identifier: com.example.c.work
                kind: processing
                call: {library: libC.so, steps: [{function: work}]}

            """)
        settle("manifests/c.yaml", folder)
        let registry = folder.registry
        #expect(registry.scan().problems == [])
        try folder.compile("libC.so", "int other(void) { return 0; }")
        let broken = registry.scan().problems
        #expect(broken.contains { $0.finding.contains("libC.so has no function 'work'") }, "\(broken)")
        #expect(registry.work.reads == 1)
    }

    @Test func `while nothing changes a refresh scans nothing, and a change is found without waiting`()
        async throws
    {
        let folder = try folder(of: 2)
        let registry = folder.registry
        var changes = try registry.changes().makeAsyncIterator()
        while let snapshot = await changes.next(), snapshot.handlers.count < 2 {}
        // The watch of the directories may already have noticed changes from before the test; this call
        // handles them.
        _ = registry.refresh()
        let scans = registry.work.scans
        for _ in 0..<100 { #expect(registry.refresh().handlers.count == 2) }
        #expect(registry.work.scans == scans)
        for number in 2..<12 {
            try write(number, folder)
            #expect(registry.refresh().handlers.count == number + 1)
        }
    }

    @Test func `a refresh looks where a watch of the directories sees nothing`() async throws {
        let folder = try folder(of: 1)
        try folder.write("data/elsewhere.yaml", HandlerRegistryTests.manifest("com.example.link"))
        try folder.run("ln", "-s", folder.path + "/data/elsewhere.yaml", folder.path + "/manifests/z.yaml")
        let registry = folder.registry
        var changes = try registry.changes().makeAsyncIterator()
        while let snapshot = await changes.next(), snapshot.handlers.count < 2 {}
        _ = registry.refresh()
        try folder.write("data/elsewhere.yaml", HandlerRegistryTests.manifest("com.example.other"))
        #expect(registry.refresh().handlers.last?.manifest.bundle.rawValue == "com.example.other")
    }

    @Test func `a library behind a link is looked at although its directory is as it was`() async throws {
        let folder = try folder(of: 1)
        try folder.run("mkdir", folder.path + "/plugins/real")
        try folder.compile("real/libA.so", "int a(void) { return 1; }")
        try folder.remove("plugins/libA.so")
        try folder.run("ln", "-s", folder.path + "/plugins/real/libA.so", folder.path + "/plugins/libA.so")
        let registry = folder.registry
        var changes = try registry.changes().makeAsyncIterator()
        while let snapshot = await changes.next(), snapshot.handlers.isEmpty {}
        let before = try #require(registry.refresh().handlers.first?.libraryHash)
        try folder.compile("real/libA.so", "int a(void) { return 2; }")
        #expect(registry.refresh().handlers.first?.libraryHash != before)
    }
}
