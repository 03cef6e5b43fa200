import Foundation
import HandlerRegistry
import TaskHostTestSupport
import Testing

/// The project's shipped files and its README's commands, read by the host's own code.
@Suite(.system) struct ShippedFilesTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    private let products: String

    init() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        products = URL(fileURLWithPath: program).deletingLastPathComponent().path
    }

    private func manifests(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(folder)").sorted()
            .filter { $0.hasSuffix(".yaml") }.map { "\(Self.root)/\(folder)/\($0)" }
    }

    @Test func `the host takes every shipped manifest, with its library and the functions that it calls`()
        throws
    {
        let files = try manifests(in: "manifests") + manifests(in: "Demo/manifests")
        #expect(files.count >= 3)
        // The plugins of this package, and those of Plugins/Apps, which 'make test' has already built.
        let folder = try ScratchFolder()
        for products in [products, "\(Self.root)/Plugins/Apps/.build/debug"] {
            let libraries = try FileManager.default.contentsOfDirectory(atPath: products)
                .filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }
            #expect(!libraries.isEmpty, "\(products) has no plugin: see 'make test'")
            for library in libraries {
                try FileManager.default.copyItem(
                    atPath: "\(products)/\(library)", toPath: "\(folder.path)/\(library)")
            }
        }
        #expect(ManifestLinter.lint(files: files, pluginsDirectory: folder.path) == [])
    }

    @Test func `the README's plugins compile, export what they should, and their manifests are taken`() throws
    {
        let text = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: Self.root + "/README.md")), as: UTF8.self)
        let folder = try ScratchFolder()
        let sources = blocks("c", in: text)
        let yaml = blocks("yaml", in: text)
        try #require(sources.count == 2 && yaml.count == 2)
        try folder.write("hello.c", Data(sources[0].utf8))
        try folder.write("greet.c", Data(sources[1].utf8))
        try folder.write("hello.yaml", Data(yaml[0].utf8))
        try folder.write("greeter.yaml", Data(yaml[1].utf8))

        try FileManager.default.copyItem(
            atPath: "\(Self.root)/Plugins/exports.map", toPath: folder.path + "/exports.map")

        // The README's command lines, but with the header of this checkout in place of the installed one. If
        // the machine has no cc, clang replaces it.
        for command in blocks("sh", in: text).joined(separator: "\n").replacing("\\\n", with: " ").split(
            separator: "\n")
        {
            guard command.hasPrefix("cc ") else { continue }
            let command = command.replacing(
                "/usr/local/include", with: "\(Self.root)/Sources/SDK/CHandlerABI/include")
            let line = "BGTASK='\(Self.root)'; clang -Wall -Wextra -Werror \(command.dropFirst(3))"
            #expect(try shell(line, in: folder.path).status == 0, "\(command)")
        }
        let exported = try shell("nm --dynamic --defined-only libhello.so | cut -d' ' -f3", in: folder.path)
        #expect(exported.output == "bgtask_plugin_entry\n")
        let problems = ManifestLinter.lint(
            files: ["hello.yaml", "greeter.yaml"].map { "\(folder.path)/\($0)" },
            pluginsDirectory: folder.path)
        #expect(problems == [])
    }

    /// The fenced code blocks of one language.
    private func blocks(_ language: String, in text: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    private func shell(_ line: String, in folder: String) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }
}
