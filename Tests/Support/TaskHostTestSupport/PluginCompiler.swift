import Digests
public import Foundation
import Glibc

/// Compiles the C code of tests; the same text is compiled only once.
///
/// Results are stored in the build folder, under a hash of all inputs, and copied from there.
public enum PluginCompiler {
    /// The compiler failed; the description is its output.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let include = root.appending(path: "Sources/SDK/CHandlerABI/include")
    private static let fixtures = root.appending(path: "Tests/Fixtures/Plugins")

    /// Compiles `Tests/Fixtures/Plugins/NAME.c` into a new library of that name.
    ///
    /// - Parameters:
    ///   - name: The fixture, without `.c`.
    ///   - directory: The directory for `NAME.so`; it is created if it does not exist.
    /// - Returns: The library's absolute path.
    public static func compile(_ name: String, into directory: URL) throws -> String {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let library = directory.appending(path: "\(name).so")
        try build(
            fixtures.appending(path: "\(name).c"), into: library,
            options: ["-std=c17", "-shared", "-fPIC", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"])
        return library.path
    }

    /// Compiles one source file with the system's compiler, which finds `bgtask.h`.
    ///
    /// - Parameters:
    ///   - source: The source file. Besides the system's headers it may include only `bgtask.h`, `fixture.h`
    ///     and the runner's `template.h`.
    ///   - target: The path of the result; an existing file is replaced.
    ///   - options: The options for the compiler; none may name another file that can change.
    /// - Throws: ``Failure``, or an error of the file system.
    public static func build(_ source: URL, into target: URL, options: [String]) throws {
        let cache = Products.directory.appending(path: "compiled-for-tests")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        var facts = Data(options.joined(separator: "\n").utf8)
        let headers = [
            include.appending(path: "bgtask.h"), fixtures.appending(path: "fixture.h"),
            root.appending(path: "Sources/Runner/bgtask-runner/template.h"),
        ]
        for file in [source] + headers {
            facts += Data("\n\(file.lastPathComponent)\n".utf8) + (try Data(contentsOf: file))
        }
        let compiler = (try? FileManager.default.attributesOfItem(atPath: "/usr/bin/cc"))?[.modificationDate]
        facts += Data("\(String(describing: compiler))".utf8)
        let kept = cache.appending(path: SHA256.hexadecimal(of: Array(facts)))
        if !FileManager.default.fileExists(atPath: kept.path) {
            try withLock(on: kept.path + ".lock") { try make(kept, of: source, options) }
        }
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.copyItem(at: kept, to: target)
    }

    /// Runs the compiler, unless another process or thread has already stored the result.
    private static func make(_ kept: URL, of source: URL, _ options: [String]) throws {
        if FileManager.default.fileExists(atPath: kept.path) { return }
        let half = kept.path + ".half"
        let answer = Command.run(
            ["cc"] + options + ["-I", include.path, "-I", fixtures.path, "-o", half, source.path])
        guard answer.status == 0, rename(half, kept.path) == 0 else {
            throw Failure(description: "\(source.lastPathComponent): \(answer.output)")
        }
    }

    /// Runs a body while no other thread or process holds the same lock.
    private static func withLock(on path: String, _ body: () throws -> Void) throws {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        try body()
    }
}
