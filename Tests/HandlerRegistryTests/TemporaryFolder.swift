import Foundation
import HandlerRegistry
import TaskHostTestSupport
import TaskModel

/// A folder with the registry's directories; it is removed together with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "registry-\(UUID().uuidString)")
        for name in ["manifests", "plugins", "cache", "data"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
        }
        path = folder.path
    }

    deinit {
        // The registry's copies are in read-only directories, which must become writable before they can be
        // removed.
        let files = FileManager.default
        for name in files.enumerator(atPath: path)?.compactMap({ $0 as? String }) ?? [] {
            let place = path + "/" + name
            let type = try? files.attributesOfItem(atPath: place)[.type] as? FileAttributeType
            if type == .typeDirectory {
                try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
            }
        }
        try? files.removeItem(atPath: path)
    }

    var registry: HandlerRegistry {
        HandlerRegistry(
            manifestsDirectory: path + "/manifests", pluginsDirectory: path + "/plugins",
            libraryCacheDirectory: path + "/cache")
    }

    /// Writes a file atomically: first under another name, then renamed.
    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let temporary = "\(path)/.\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: temporary))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: temporary)
        try replace("\(path)/\(name)", with: temporary)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }

    /// Compiles a shared library into the plugins directory. It is a plugin, unless `isPlugin` is false.
    func compile(_ name: String, _ source: String, _ options: String..., isPlugin: Bool = true) throws {
        try compile(name, source, options, isPlugin: isPlugin)
    }

    func compile(_ name: String, _ source: String, _ options: [String], isPlugin: Bool = true) throws {
        let entry = "\n__attribute__((weak)) const void *bgtask_plugin_entry(void) { return 0; }\n"
        try Data((source + (isPlugin ? entry : "")).utf8).write(to: URL(fileURLWithPath: path + "/source.c"))
        if options.isEmpty {
            try PluginCompiler.build(
                URL(fileURLWithPath: path + "/source.c"), into: URL(fileURLWithPath: path + "/built"),
                options: ["-shared", "-fPIC"])
        } else {
            try run("cc", ["-shared", "-fPIC", "-o", path + "/built", path + "/source.c"] + options)
        }
        try replace("\(path)/plugins/\(name)", with: path + "/built")
    }

    /// Renames a file over another one, so that a reader sees either the old file or the new one.
    private func replace(_ target: String, with file: String) throws {
        if rename(file, target) != 0 { throw ToolError(tool: "rename", arguments: [file, target]) }
    }

    @discardableResult
    func run(_ tool: String, _ arguments: String...) throws -> String { try run(tool, arguments) }

    @discardableResult
    func run(_ tool: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ToolError(tool: tool, arguments: arguments) }
        return String(decoding: bytes, as: UTF8.self)
    }

    struct ToolError: Error {
        let tool: String
        let arguments: [String]
    }
}

/// The path of the repository's root, derived from the path of this file.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
