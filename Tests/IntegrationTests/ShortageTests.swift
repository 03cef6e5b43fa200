import Foundation
import TaskHostTestSupport
import Testing

/// Row 9 of the faults of isolation: a host that runs out of descriptors or processes puts back, and fails
/// nothing.
@Suite(.system) struct ShortageTests {
    private static let bundles = (1...12).map { "com.example.short\($0)" }

    /// Launches all bundles at once, and waits until each has succeeded; other outcomes than `lost` fail.
    private static func runAll(_ host: HostProcess) throws {
        // Two descriptors of each launch go to the launcher, and each bundle has a template of its own.
        let source = EndToEndTests.counting.replacingOccurrences(
            of: "long position = 0;", with: "long position = 0; usleep(300000);")
        for (number, bundle) in bundles.enumerated() {
            try host.install(
                source, library: "libshort\(number).so",
                manifest: """
                    apiVersion: bgtask/v1
                    bundle: \(bundle)
                    library: libshort\(number).so
                    modes: [processing]
                    tasks:
                      - identifier: \(bundle).run
                        kind: processing
                    """, named: "short\(number)")
        }
        try host.wait("the manifests are read") {
            let plugins = host.run("plugins").output
            return bundles.allSatisfy(plugins.contains)
        }
        // This command starts its launches without waiting for their ends.
        for bundle in bundles {
            let answer = host.run("launch", "\(bundle).run")
            if answer.status != 0 { throw HostFailure("launch: \(answer.output) \(answer.errors)") }
        }
        try host.wait("each has succeeded") {
            Set(try outcomes(host).filter { $0.1 == "succeeded" }.map(\.0)).count == bundles.count
        }
        let others = try outcomes(host).filter { $0.1 != "succeeded" && $0.1 != "lost" }
        #expect(others.isEmpty, "\(others)")
    }

    private static func outcomes(_ host: HostProcess) throws -> [(String, String)] {
        try host.launches().compactMap { row in
            guard let identifier = row["identifier"] as? String, let outcome = row["outcome"] as? String
            else { return nil }
            return (identifier, outcome)
        }
    }

    @Test func `a host with few descriptors runs all launches in the end`() throws {
        let host = try HostProcess()
        host.prefix = ["prlimit", "--nofile=128:128"]
        try host.start()
        try Self.runAll(host)
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: HostProcess.ordinaryUserObstacle == nil))
    func `a host of an ordinary user with few processes runs all launches in the end`() throws {
        let host = try HostProcess()
        // A number that no other test uses, because the kernel counts by users.
        host.user = 61_245
        host.prefix = ["prlimit", "--nproc=45"]
        try host.start()
        try Self.runAll(host)
        #expect(host.stop() == 0)
    }

    @Test func `a host whose store is full says so in place of advice that does not help`() throws {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try host.start()
        host.run("conditions", "set", "user=active")
        host.run("submit", "com.example.counting.count")
        try host.limitFileSizes(to: 1)
        defer { try? host.limitFileSizes(to: nil) }
        host.run("conditions", "set", "user=idle")
        let full = "Waits for free space for the host's store: free some space in the file system of "
        try host.wait("the store refuses the launch") {
            host.run("explain", "com.example.counting.count").output.contains(full)
        }
        let text = host.run("explain", "com.example.counting.count").output
        #expect(text.contains("no  Store: ") && !text.contains("bgtask launch"), "\(text)")
        #expect(host.run("pending").output.contains("Waits for free space for the host's store"))
        let refused = host.run("launch", "com.example.counting.count")
        #expect(refused.status != 0 && refused.errors.contains("Free some space"), "\(refused)")
        #expect(
            host.run("explain", "com.example.counting.refresh").output.contains("No task can start: the file")
        )
        try host.limitFileSizes(to: nil)
        try host.wait("it starts by itself, as the headline says") {
            try host.launches().first?["outcome"] as? String == "succeeded"
        }
        #expect(!host.run("explain", "com.example.counting.count").output.contains("free some space"))
        #expect(host.stop() == 0)
    }
}
