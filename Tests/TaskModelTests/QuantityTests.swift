import TaskModel
import Testing

@Suite struct QuantityTests {
    @Test func `the standard CPU limit is 48 seconds of one core in a minute`() {
        #expect(CPULimit.standard.quota == .seconds(48))
    }

    @Test func `durations become whole numbers, and saturate instead of trapping`() {
        #expect(Duration.milliseconds(1500).wholeMilliseconds == 1500)
        #expect(Duration.milliseconds(-1500).wholeNanoseconds == -1_500_000_000)
        #expect(Duration.seconds(Int64.max / 2).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min / 2).wholeNanoseconds == .min)
    }

    @Test func `a byte count is shown with the largest unit that divides it`() {
        #expect(ByteCount.mebibytes(256).description == "256 MiB")
        #expect(ByteCount(bytes: 1536).description == "1536 B")
        #expect(ByteCount.kibibytes(1536).description == "1536 KiB")
        #expect(ByteCount(bytes: -5).bytes == 0)
    }

    @Test func `launch and request numbers are read as they are written, and nothing else`() {
        #expect(LaunchID("L42")?.rawValue == 42)
        #expect(RequestID("R1")?.description == "R1")
        for text in ["", "L", "L0", "L-1", "R42x", "42"] { #expect(LaunchID(text) == nil) }
    }
}
