import Foundation
import TaskHostTestSupport
import Testing

/// What a plugin's own bundle looks like through Foundation.
@Suite(.system) struct BundleMainTests {
    private static let source = """
        import Foundation

        nonisolated(unsafe) private var plugin = bgtask_plugin(
            abi_version: UInt32(BGTASK_ABI_VERSION), struct_size: MemoryLayout<bgtask_plugin>.size,
            run: { task, host in
                let bundle = Bundle.main
                print("identifier", bundle.bundleIdentifier ?? "none")
                print("name", bundle.bundleURL.lastPathComponent)
                for key in ["BGTaskSchedulerPermittedIdentifiers", "UIBackgroundModes"] {
                    print(key, bundle.object(forInfoDictionaryKey: key) as? [String] ?? [])
                }
                host!.pointee.complete(task, 1, nil)
            })

        @_cdecl("bgtask_plugin_entry")
        public func bgtask_plugin_entry_() -> UnsafePointer<bgtask_plugin> {
            withUnsafePointer(to: &plugin) { $0 }
        }
        """

    private static func manifest(_ name: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.photos
        library: libphotos.so
        modes: [processing, fetch]
        tasks:
          - identifier: com.example.photos.refresh
            kind: appRefresh
          - identifier: com.example.photos.\(name).*
            kind: continuedProcessing
        """
    }

    /// Compiles a Swift plugin that uses no module of this project, as any SwiftPM package could.
    private static func compile(into library: URL, _ folder: URL) throws {
        let file = folder.appendingPathComponent("photos.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "swiftc", "-emit-library", "-Onone", "-parse-as-library", "-module-cache-path",
            folder.appendingPathComponent("modules").path, "-import-objc-header",
            root.appendingPathComponent("Sources/SDK/CHandlerABI/include/bgtask.h").path,
            "-o", library.path, file.path,
        ]
        try compiler.run()
        compiler.waitUntilExit()
        if compiler.terminationStatus != 0 { throw HostFailure("swiftc failed for the plugin") }
    }

    private static func printed(_ host: HostProcess) throws -> [String] {
        let answer = host.run("launch", "com.example.photos.refresh", "--wait")
        let launch = try #require(try host.launches().first?["launch"] as? String, "\(answer)")
        let shown = host.run("show", launch).output
        #expect(answer.status == 0, "\(answer) \(shown)")
        return shown.split(separator: "\n").compactMap { line in
            line.range(of: " stdout  ").map { String(line[$0.upperBound...]) }
        }
    }

    @Test func `Bundle.main has the identifier, the permitted identifiers and the modes of the manifest`()
        throws
    {
        let host = try HostProcess()
        try Self.compile(into: host.plugins.appendingPathComponent("libphotos.so"), host.directory)
        let manifest = host.manifests.appendingPathComponent("photos.yaml")
        try Self.manifest("export").write(to: manifest, atomically: true, encoding: .utf8)
        try host.start()
        #expect(
            try Self.printed(host) == [
                "identifier com.example.photos", "name photos.app",
                #"BGTaskSchedulerPermittedIdentifiers ["com.example.photos.refresh", "com.example.photos.export.*"]"#,
                #"UIBackgroundModes ["fetch", "processing"]"#,
            ])
        try Self.manifest("print").write(to: manifest, atomically: true, encoding: .utf8)
        try host.wait("it is read") { host.run("plugins").output.contains("photos.print") }
        let later = try Self.printed(host)
        #expect(later.contains { $0.contains("com.example.photos.print.*") }, "\(later)")

        let app = host.state.appendingPathComponent("apps/com.example.photos/photos.app")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: app.path).sorted() == [
                "Info.plist", "bgtask-runner",
            ])
        try FileManager.default.removeItem(at: manifest)
        try host.wait("it is removed") { !FileManager.default.fileExists(atPath: app.path) }
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }
}
