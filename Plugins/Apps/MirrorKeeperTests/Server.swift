import Foundation
import Testing

@testable import MirrorKeeper

/// An HTTP server in a separate Python process, which serves a new folder of this test.
final class Server {
    let root = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    private let process: PythonProcess

    var catalogue: URL {
        URL(string: "http://127.0.0.1:\(process.port)/catalogue.json") ?? root
    }

    init() throws {
        let served = root.appendingPathComponent("served")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        process = try PythonProcess(
            """
            import functools, http.server, sys
            class Quiet(http.server.SimpleHTTPRequestHandler):
                def log_message(self, *words): pass
            server = http.server.ThreadingHTTPServer(
                ("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
            print(server.server_address[1], flush=True)
            server.serve_forever()
            """, served.path)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func folder(_ path: String) -> URL { root.appendingPathComponent(path) }

    func text(of path: String) throws -> String { try String(contentsOf: folder(path), encoding: .utf8) }

    /// Serves these files, and a catalogue that lists only them.
    func publish(_ files: [String: String], hashes: Bool = true) throws {
        var list: [[String: String]] = []
        for (path, text) in files {
            let file = folder("served/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            list.append(["path": path])
            if hashes { list[list.count - 1]["sha256"] = SHA256.hex(of: Data(text.utf8)) }
        }
        try JSONEncoder().encode(["files": list]).write(to: folder("served/catalogue.json"))
    }
}

/// A server that accepts connections and never answers.
final class Silence {
    private let process: PythonProcess
    var port: Int { process.port }

    init() throws {
        process = try PythonProcess(
            """
            import socket, time
            server = socket.create_server(("127.0.0.1", 0))
            print(server.getsockname()[1], flush=True)
            time.sleep(300)
            """)
    }
}

/// A Python script that prints the port that it serves.
///
/// It ends when its standard input closes.
///
/// A signal would not always end it: on Linux, a child of `Process` inherits the signals that its parent's
/// thread has blocked, and Dispatch blocks most of them.
private final class PythonProcess {
    private let input = Pipe()
    private let output = Pipe()
    private let process = Process()
    let port: Int

    init(_ script: String, _ arguments: String...) throws {
        let ending =
            "import os, sys, threading\nthreading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()\n"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", ending + script] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // The folder is fixed, because other tests change this process's working directory.
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8),
            !byte.isEmpty
        {
            line += byte
        }
        port = try #require(Int(String(decoding: line, as: UTF8.self)), "the server names its port")
    }

    deinit { try? input.fileHandleForWriting.close() }
}
