import Foundation
import TaskHostTestSupport
import Testing

/// The contents of the linked runner and shipped plugins, read with common tools.
@Suite(.system) struct LinkageTests {
    static let cProducts = ["bgtask-runner", "bgtask-task", "bgtask-transfer", "libTreeHasher.so"]
    static let plugins = ["libTreeHasher.so", "libFeedRefresher.so"]

    /// The path of a product; the build's folder also holds this test program.
    private func product(_ name: String) throws -> String {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(name).path
    }

    private func output(_ tool: String, _ arguments: String...) throws -> [String] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(tool) \(arguments.joined(separator: " "))")
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The bracketed values of the dynamic section's rows of these kinds.
    private func dynamic(_ name: String, _ kinds: [String]) throws -> [String] {
        try output("readelf", "--dynamic", "--wide", product(name)).filter { row in
            kinds.contains { row.contains("(\($0))") }
        }.compactMap { row in
            row.split(separator: "[").last?.split(separator: "]").first.map(String.init)
        }
    }

    @Test(arguments: cProducts)
    func `C products need no Swift runtime and no C++ runtime`(name: String) throws {
        let needed = try dynamic(name, ["NEEDED"])
        #expect(needed.contains("libc.so.6"))
        let permitted = [
            "libc.so.6", "libcurl.so", "libffi.so", "libseccomp.so", "libm.so.6", "libpthread.so.0",
            "libdl.so.2",
            "ld-linux",
        ]
        for library in needed {
            #expect(permitted.contains { library.hasPrefix($0) }, "\(name) needs \(library)")
        }
    }

    @Test(arguments: cProducts)
    func `C products look for libraries beside themselves at most, never in a toolchain`(name: String) throws
    {
        for path in try dynamic(name, ["RUNPATH", "RPATH"]) { #expect(path == "$ORIGIN", "\(name): \(path)") }
    }

    @Test(arguments: plugins)
    func `a shipped plugin exports its entry and nothing else`(name: String) throws {
        let symbols = try output("nm", "--dynamic", "--defined-only", "--extern-only", product(name))
        #expect(symbols.compactMap { $0.split(separator: " ").last } == ["bgtask_plugin_entry"])
    }

    @Test func `the Swift plugin does need the Swift runtime, so the tests above can fail`() throws {
        #expect(try dynamic("libFeedRefresher.so", ["NEEDED"]).contains("libswiftCore.so"))
        #expect(
            try output("nm", "--dynamic", "--defined-only", "--extern-only", product("bgtaskd")).count != 1)
    }

    @Test func `the command runs the host's core without the host's database and event loop`() throws {
        // The module names in the form in which Swift's mangled symbols have them.
        let modules = ["4GRDB", "7NIOCore", "8NIOPosix"]
        func linked(_ name: String) throws -> [String] {
            let symbols = try output("nm", product(name)).joined(separator: "\n")
            return modules.filter { symbols.contains("$s" + $0) }
        }
        #expect(try linked("bgtask") == [])
        #expect(try linked("bgtaskd") == modules)
    }

    @Test func `the command starts without Foundation's tables of languages`() throws {
        let large = ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"]
        #expect(try dynamic("bgtask", ["NEEDED"]).filter { large.contains($0) } == [])
        #expect(try dynamic("bgtaskd", ["NEEDED"]).contains("libFoundation.so"))
    }
}
