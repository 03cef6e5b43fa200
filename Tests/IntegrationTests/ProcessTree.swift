import Foundation
import Testing

/// The processes of a host, from /proc.
enum ProcessTree {
    /// Whether a process exists and has not ended.
    static func isAlive(_ process: Int32) -> Bool {
        guard let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return false }
        return !String(decoding: status, as: UTF8.self).contains(") Z ")
    }

    static func words(_ process: Int32) -> [String] {
        let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\0").map(String.init)
    }

    static func name(of process: Int32) -> String {
        let data = FileManager.default.contents(atPath: "/proc/\(process)/comm") ?? Data()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    static func children(of parent: Int32) -> [Int32] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
        return threads.flatMap { thread in
            let file = "/proc/\(parent)/task/\(thread)/children"
            let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
            return text.split(separator: " ").compactMap { Int32($0) }
        }
    }

    static func launcher(of host: HostProcess) throws -> Int32 {
        try #require(children(of: host.processIdentifier).first { words($0).dropFirst().first == "launcher" })
    }
}
