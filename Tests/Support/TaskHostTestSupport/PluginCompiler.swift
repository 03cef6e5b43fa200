public import Foundation

/// Compiles the C plugins of `Tests/Fixtures/Plugins` for tests.
public enum PluginCompiler {
    /// The compiler said no; its output.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Compiles `Tests/Fixtures/Plugins/NAME.c` into a fresh library of that name.
    ///
    /// - Parameters:
    ///   - name: The fixture, without `.c`.
    ///   - directory: Where `NAME.so` goes; created if it is not there.
    /// - Returns: The library's absolute path.
    public static func compile(_ name: String, into directory: URL) throws -> String {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let library = directory.appending(path: "\(name).so")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "cc", "-std=c17", "-shared", "-fPIC", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
            "-I", root.appending(path: "Sources/SDK/CHandlerABI/include").path, "-o", library.path,
            root.appending(path: "Tests/Fixtures/Plugins/\(name).c").path,
        ]
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: String(decoding: text, as: UTF8.self))
        }
        return library.path
    }
}
