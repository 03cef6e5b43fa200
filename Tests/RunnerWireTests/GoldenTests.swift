import Testing

@testable import RunnerWire

@Suite struct GoldenTests {
    @Test(arguments: GoldenCase.all) func `a message encodes to its golden file and back`(
        _ golden: GoldenCase
    ) throws {
        let bytes = try GoldenFiles.bytes(golden.name)
        #expect(try golden.encode() == bytes)
        var decoder = FrameDecoder()
        var matches: [Bool] = []
        try decoder.consume(bytes) { kind, body throws(WireError) in
            matches.append(try golden.matches(kind, body))
        }
        #expect(matches == [true])
        try decoder.finish()
    }

    @Test func `every golden file has a test`() throws {
        #expect(try GoldenFiles.names() == GoldenCase.all.map(\.name).sorted())
    }

    @Test func `every prefix of a stream gives the frames so far and no error`() throws {
        let stream = try Self.stream(GoldenCase.taskToHost)
        let ends = Self.frameEnds(stream)
        #expect(ends.count == GoldenCase.taskToHost.count)
        for length in 0...stream.count {
            var decoder = FrameDecoder()
            var frames = 0
            try decoder.consume(Array(stream.prefix(length))) { kind, body throws(WireError) in
                _ = try TaskReportMessage(kind: kind, body: body)
                frames += 1
            }
            #expect(frames == ends.filter { $0 <= length }.count)
            #expect(decoder.isInsideFrame == (length > 0 && !ends.contains(length)))
        }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 1000])
    func `a stream cut into pieces of any size gives the same frames`(_ size: Int) throws {
        let stream = try Self.stream(GoldenCase.launcherToHost)
        var decoder = FrameDecoder()
        var reports: [LauncherReport] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            let piece = Array(stream[start..<min(stream.count, start + size)])
            try decoder.consume(piece) { kind, body throws(WireError) in
                if let report = try LauncherReport(kind: kind, body: body) { reports.append(report) }
            }
        }
        #expect(reports.count == GoldenCase.launcherToHost.count)
        #expect(reports.first == .hello(HelloMessage(protocolVersion: 1, pid: 4711)))
        #expect(reports.last == .unkillable(UnkillableMessage(launch: 42)))
    }

    /// The golden frames in sequence, with new sequence numbers.
    static func stream(_ cases: [GoldenCase]) throws -> [UInt8] {
        try cases.enumerated().flatMap { index, golden in
            var bytes = try GoldenFiles.bytes(golden.name)
            bytes[6] = UInt8(index)
            return bytes
        }
    }

    private static func frameEnds(_ stream: [UInt8]) -> [Int] {
        var ends: [Int] = []
        var position = 0
        while position < stream.count {
            position += 4 + Int(stream[position]) + Int(stream[position + 1]) << 8
            ends.append(position)
        }
        return ends
    }
}
