import Foundation
import TaskHostTestSupport

/// A folder for one test; it is removed together with this object.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/bga-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit {
        // The host's copies are in read-only directories, which must become writable before they can be
        // removed.
        _ = Command.run("chmod", "-R", "u+w", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file, and creates its directories; returns the file's path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
}

/// Runs the real `bgtask`; the answer has standard output and standard error together.
func bgtask(_ arguments: String...) -> Command.Answer {
    Command.run([Products.path("bgtask")] + arguments, environment: ["NO_COLOR": "1"])
}

/// The standard output of a `bgtask` command, without standard error, as JSON.
func json(_ arguments: String...) throws -> Any {
    let words = arguments.map { "'\($0)'" }.joined(separator: " ")
    let answer = Command.run("sh", "-c", "'\(Products.path("bgtask"))' \(words) 2>/dev/null")
    return try JSONSerialization.jsonObject(with: Data(answer.output.utf8), options: [.fragmentsAllowed])
}

/// `Tests/Fixtures/Apple`.
let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/Apple").path
