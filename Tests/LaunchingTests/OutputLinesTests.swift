import Testing

@testable import Launching

@Suite struct OutputLinesTests {
    private static func lines(_ chunks: [[UInt8]]) -> [String] {
        var output = OutputLines()
        var result: [String] = []
        for chunk in chunks { chunk.withUnsafeBytes { output.take($0) { result.append($0) } } }
        output.finish { result.append($0) }
        return result
    }

    @Test func `lines are put together from any pieces`() {
        #expect(
            Self.lines([Array("on".utf8), Array("e\ntwo\n\nfo".utf8), Array("ur".utf8)]) == [
                "one", "two", "", "four",
            ])
    }

    @Test func `what a terminal could obey is shown as an escape`() {
        let text = "a\u{1B}[31mred\u{7F}\u{202E}evil\u{85}\r\tü"
        #expect(Self.lines([Array(text.utf8)]) == ["a\\x1b[31mred\\x7f\\u{202e}evil\\x85\\x0d\tü"])
        #expect(Self.lines([[0x61, 0xFF, 0xC3, 0x0A]]) == ["a\\xff\\xc3"])
    }

    @Test func `a long line is cut into pieces of 4 KiB`() {
        let lines = Self.lines([[UInt8](repeating: 0x61, count: 10_000)])
        #expect(lines.map(\.utf8.count) == [4096, 4096, 1808])
    }

    @Test func `empty lines are limited, too`() {
        let lines = Self.lines([[UInt8](repeating: 0x0A, count: 1 << 20)])
        #expect(lines.count == 16_385)
        #expect(lines.last == "1032192 more bytes were dropped: the limit per stream is 1 MiB")
    }

    @Test func `past 1 MiB bytes are counted, not kept`() {
        let chunk = [UInt8](repeating: 0x62, count: 1023) + [0x0A]
        let lines = Self.lines(Array(repeating: chunk, count: 1030))
        #expect(lines.count == 1025)
        #expect(lines.last == "6144 more bytes were dropped: the limit per stream is 1 MiB")
    }
}
