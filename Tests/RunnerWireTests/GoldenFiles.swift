import Foundation
import Testing

@testable import RunnerWire

/// The frames in `Tests/Fixtures/RunnerWire`; the runner's C codec is tested with them too.
enum GoldenFiles {
    struct Unreadable: Error { let name: String }

    static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/RunnerWire")

    /// The bytes of `NAME.hex`, a file of hexadecimal bytes and comments that begin with `#`.
    static func bytes(_ name: String) throws -> [UInt8] {
        let text = try String(contentsOf: directory.appending(path: name + ".hex"), encoding: .utf8)
        return try text.split(separator: "\n").flatMap { line in
            try line.prefix { $0 != "#" }.split(separator: " ").map { word in
                guard let byte = UInt8(word, radix: 16) else { throw Unreadable(name: name) }
                return byte
            }
        }
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".hex") }.map { String($0.dropLast(4)) }.sorted()
    }
}

/// One message with its golden file, without its type.
struct GoldenCase: Sendable, CustomTestStringConvertible {
    let name: String
    let encode: @Sendable () throws -> [UInt8]
    let matches: @Sendable (UInt8, FieldReader) throws(WireError) -> Bool

    init<Message: WireMessage>(_ name: String, _ message: Message) {
        self.name = name
        encode = {
            var encoder = FrameEncoder()
            return try encoder.encode(message)
        }
        matches = { kind, body throws(WireError) in
            let decoded = try Message(fields: body)
            return kind == Message.kind && decoded == message
        }
    }

    var testDescription: String { name }
}
