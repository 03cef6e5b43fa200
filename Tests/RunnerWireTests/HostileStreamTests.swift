import Testing

@testable import RunnerWire

@Suite struct HostileStreamTests {
    @Test(arguments: [0, 3, 65_537, UInt32.max])
    func `a length outside its bounds is refused as soon as it is there`(_ length: UInt32) {
        var decoder = FrameDecoder()
        let start = withUnsafeBytes(of: length.littleEndian, Array.init)
        #expect(Self.code { try decoder.consume(start) { _, _ in } } == .frameLength)
        var slow = FrameDecoder()
        let code = Self.code {
            for byte in start { try slow.consume([byte]) { _, _ in } }
        }
        #expect(code == .frameLength)
        #expect(decoder.heldBytes <= 4 && slow.heldBytes <= 4)
    }

    @Test(arguments: [4, 65_536]) func `the least and the greatest length are taken`(_ length: UInt32) throws
    {
        var decoder = FrameDecoder()
        var frame = withUnsafeBytes(of: length.littleEndian, Array.init) + [0x80, 0, 0, 0]
        frame += [UInt8](repeating: 0, count: Int(length) - 4)
        var frames = 0
        try decoder.consume(frame) { _, _ in frames += 1 }
        #expect(frames == 1)
    }

    @Test func `a gap in the sequence is refused`() {
        var decoder = FrameDecoder()
        let first: [UInt8] = [4, 0, 0, 0, 0x06, 0, 0, 0]
        let third: [UInt8] = [4, 0, 0, 0, 0x06, 0, 2, 0]
        #expect(Self.code { try decoder.consume(first + third) { _, _ in } } == .sequenceGap)
    }

    @Test func `the sequence wraps`() throws {
        var decoder = FrameDecoder()
        var encoder = FrameEncoder()
        var frames = 0
        for _ in 0..<65_540 {
            try decoder.consume(try encoder.encode(PendingMessage(call: 1))) { _, _ in frames += 1 }
        }
        #expect(frames == 65_540)
    }

    @Test func `an unknown kind from 0x80 on is skipped, below it is refused`() throws {
        var decoder = FrameDecoder()
        try decoder.consume([4, 0, 0, 0, 0x80, 0, 0, 0, 4, 0, 0, 0, 0xFF, 7, 1, 0]) {
            kind, body throws(WireError) in
            #expect(try TaskReportMessage(kind: kind, body: body) == nil)
            #expect(try LauncherReport(kind: kind, body: body) == nil)
        }
        let code = Self.code {
            try decoder.consume([4, 0, 0, 0, 0x7F, 0, 2, 0]) { kind, body throws(WireError) in
                _ = try TaskReportMessage(kind: kind, body: body)
            }
        }
        #expect(code == .unknownKind)
    }

    @Test func `an end inside a frame is a violation`() throws {
        var decoder = FrameDecoder()
        try decoder.consume([4, 0, 0]) { _, _ in }
        #expect(Self.code { try decoder.finish() } == .truncated)
    }

    @Test(arguments: [
        (body: [1, 8, 0, 0], code: WireError.Code.fieldLength),
        (body: [1, 0], code: .fieldLength),
        (body: [1, 4, 0, 0, 0, 0, 0], code: .fieldLength),
        (body: [], code: .missingField),
        (body: [1, 1, 0, 2], code: .range),
        (body: [1, 1, 0, 1, 1, 1, 0, 1], code: .repeatedField),
        (body: [1, 1, 0, 1, 2, 1, 0, 0xFF], code: .text),
        (body: [1, 1, 0, 1, 2, 1, 0, 0], code: .text),
    ])
    func `a bad field of done is refused with its code`(_ sample: (body: [UInt8], code: WireError.Code)) {
        let code = Self.code {
            try sample.body.withUnsafeBytesThrowing { (bytes) throws(WireError) in
                _ = try DoneMessage(fields: FieldReader(bytes))
            }
        }
        #expect(code == sample.code)
    }

    @Test func `an unknown tag is skipped`() throws {
        let body: [UInt8] = [99, 2, 0, 1, 2, 1, 1, 0, 1]
        let message = try body.withUnsafeBytesThrowing { (bytes) throws(WireError) in
            try DoneMessage(fields: FieldReader(bytes))
        }
        #expect(message == DoneMessage(success: true))
    }

    @Test func `negative progress and a log level of 9 are out of range`() {
        for bytes in [
            Self.frame(TaskProgressMessage(completed: -1, total: 3)),
            Self.frame(LogMessage(level: 9, message: "")),
        ] {
            var decoder = FrameDecoder()
            let code = Self.code {
                try decoder.consume(bytes) { kind, body throws(WireError) in
                    _ = try TaskReportMessage(kind: kind, body: body)
                }
            }
            #expect(code == .range)
        }
    }

    @Test func `a checkpoint over 48 KiB is refused by the reader, a program over 64 KiB by the writer`()
        throws
    {
        let large = Self.frame(CheckpointMessage(bytes: [UInt8](repeating: 7, count: 49_153)))
        var decoder = FrameDecoder()
        let code = Self.code {
            try decoder.consume(large) { kind, body throws(WireError) in
                _ = try TaskReportMessage(kind: kind, body: body)
            }
        }
        #expect(code == .range)
        var encoder = FrameEncoder()
        #expect(
            Self.code { _ = try encoder.encode(ProgramMessage(bytes: [UInt8](repeating: 0, count: 65_536))) }
                == .tooLarge)
        // The refused frame used no sequence number.
        #expect(try encoder.encode(StartMessage())[6] == 0)
    }

    @Test func `seeded garbage never traps and never holds more than a frame`() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of the garbage: \(seed)")
        var random = SplitMix(state: seed)
        let streams = [GoldenCase.taskToHost, GoldenCase.launcherToHost].compactMap {
            try? GoldenTests.stream($0)
        }
        for round in 0..<4000 {
            // Half of the rounds are random bytes; the other half are valid streams with a few bytes changed.
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if round % 4 == 0, bytes.count > 8 {
                    // A valid header before the random bytes lets the decoder reach the fields.
                    let kind = 0x20 + UInt8(round / 4 % 16)
                    bytes.replaceSubrange(
                        0..<8, with: [UInt8((bytes.count - 4) % 256), 0, 0, 0, kind, 0, 0, 0])
                }
            } else {
                bytes = streams[round / 2 % 2]
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
            }
            var decoder = FrameDecoder()
            var position = 0
            while position < bytes.count {
                let size = Int.random(in: 1...80, using: &random)
                let piece = Array(bytes[position..<min(bytes.count, position + size)])
                position += size
                let code = Self.code {
                    try decoder.consume(piece) { kind, body throws(WireError) in
                        _ = try TaskReportMessage(kind: kind, body: body)
                        _ = try? LauncherReport(kind: kind, body: body)
                        _ = try? TaskLaunchMessage(fields: body)
                        _ = try? TemplateMessage(fields: body)
                        _ = try? ReplyMessage(fields: body)
                    }
                }
                #expect(decoder.heldBytes < 65_540, "seed \(seed), round \(round)")
                if code != nil { break }
            }
        }
    }

    private static func frame(_ message: some WireMessage) -> [UInt8] {
        var encoder = FrameEncoder()
        return (try? encoder.encode(message)) ?? []
    }

    private static func code(_ body: () throws -> Void) -> WireError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? WireError)?.code
        }
    }
}

/// A small generator with a seed, so that a failure can be reproduced.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
