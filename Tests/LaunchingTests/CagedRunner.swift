import Foundation
import TaskHostTestSupport

/// A runner with less power than this machine would give it.
final class CagedRunner {
    /// What takes the power away.
    enum Cage: String, CaseIterable {
        /// A filter as in a container: no namespaces, no mounts, no clone3.
        case container
        /// Another user than root.
        case ordinaryUser
        /// Both.
        case containerOfUser
    }

    /// The ordinary user: `nobody` on most systems.
    static let user: UInt32 = 65534

    let folder: URL
    let cage: Cage
    var path: String { folder.appending(path: "runner").path }

    init(_ cage: Cage) throws {
        self.cage = cage
        folder = FileManager.default.temporaryDirectory.appending(path: "caged-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var words: [String] = []
        if cage != .container {
            words += ["setpriv", "--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups"]
        }
        if cage != .ordinaryUser { words.append(try compileFilter()) }
        words.append(Products.path("bgtask-runner"))
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        try Data("#!/bin/sh\nexec \(command) \"$@\"\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func compileFilter() throws -> String {
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Programs/caged.c").path
        let program = folder.appending(path: "cage").path
        let answer = Command.run(
            "cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", program, source)
        guard answer.status == 0 else { throw TestFailure("cc: \(answer.output)") }
        return program
    }
}
