import Foundation
import TaskHostTestSupport
import Testing

/// The web server with faults of `Tests/Fixtures/Programs/transfer-server.py`.
final class TransferServer {
    let address: String
    private let process = Process()

    init() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Programs/transfer-server.py")
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
            if byte.isEmpty { break }
            line += byte
        }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            throw HostFailure("the web server did not start")
        }
        address = "http://127.0.0.1:\(port)"
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// A URL as the value of a key in another one.
    static func escaped(_ url: String) -> String {
        url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? url
    }

    /// The SHA-256 of a file that the server sends.
    func hash(_ name: String, size: Int) throws -> String { try get("hash/\(name)?size=\(size)") }

    /// The requests about a name so far.
    func seen(_ name: String) throws -> [[String: Any]] {
        let text = try get("seen/\(name)")
        return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    /// Lets the answers about a name go on that wait because of `hold=yes`.
    func release(_ name: String) throws { _ = try get("release/\(name)") }

    /// The body of an answer. Foundation's own client would need another library.
    func get(_ path: String) throws -> String {
        let answer = Command.run(
            "python3", "-c",
            "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode(), end='')",
            "\(address)/\(path)")
        guard answer.status == 0 else { throw HostFailure("\(path): \(answer.output)") }
        return answer.output
    }
}

extension HostProcess {
    /// The SHA-256 of a file in the host's directory.
    func hash(_ name: String) throws -> String {
        let answer = Command.run("sha256sum", directory.appendingPathComponent(name).path)
        guard answer.status == 0 else { throw HostFailure(answer.output) }
        return String(answer.output.prefix { $0 != " " })
    }

    /// The numbers of the programs that make this host's transfers.
    var transferPrograms: [Int32] {
        leftovers().filter { $0.contains("bgtask-transfer ") }.compactMap { text in
            Int32(text.prefix { $0 != " " })
        }
    }

    /// One transfer, as `bgtask transfers --json` shows it.
    func transfer(_ id: String) throws -> [String: Any] {
        let rows = try #require(json("transfers") as? [[String: Any]])
        return try #require(rows.first { $0["transfer"] as? String == id })
    }
}
