import ControlWire
import Foundation
import TaskModel
import Testing

/// The project's own encoder writes the same bytes as Foundation's.
@Suite struct JSONWriterTests {
    /// Every form that an encodable value can have.
    private struct Everything: Encodable {
        enum Choice: Codable { case empty, pair(Int, second: String?), list([Choice]) }

        struct Split: Encodable {
            enum Key: String, CodingKey { case zebra, apple, nested, list, twice }

            func encode(to encoder: any Encoder) throws {
                var first = encoder.container(keyedBy: Key.self)
                var nested = first.nestedContainer(keyedBy: Key.self, forKey: .nested)
                try first.encode(1, forKey: .zebra)
                var second = encoder.container(keyedBy: Key.self)
                try second.encode([Int](), forKey: .apple)
                // A container that was handed out may grow after its neighbours.
                try nested.encode("late", forKey: .zebra)
                try nested.encodeNil(forKey: .apple)
                var list = second.nestedUnkeyedContainer(forKey: .list)
                try list.encode(true)
                var inner = list.nestedUnkeyedContainer()
                try list.encodeNil()
                try inner.encode(UInt64.max)
                var object = list.nestedContainer(keyedBy: Key.self)
                try object.encode(2.5, forKey: .list)
                try second.encode("old", forKey: .twice)
                try second.encode("new", forKey: .twice)
            }
        }

        var text = "\"a\\b\"/\u{0}\u{1}\u{1f}\n\t\u{8}\u{c}\r\u{7f} ö€😀"
        var empty = ""
        var numbers: [Double] = [0, -0.0, 1, 1.5, -2.25, 1e100, 1e16, 1e-7, 0.1, .pi]
        var floats: [Float] = [0.1, 3]
        var whole: [Int] = [.min, -1, 0, .max]
        var small: [Int8] = [-128, 127]
        var unsigned: [UInt64] = [0, .max]
        var missing: Int?
        var nulls: [String?] = [nil, "x"]
        var duration = Duration.milliseconds(1500)
        var choices: [Choice] = [.empty, .pair(3, second: nil), .list([.empty, .pair(1, second: "é")])]
        var names = ["b": 1, "a": 2, "aa": 3, "B": 4, "": 5, "ä": 6]
        var numbered = [3: "c"]
        var split = Split()
        var nothing = Nothing()
        var yes = true
    }

    private struct Nothing: Encodable {}

    private func foundation(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func own(_ value: some Encodable) throws -> String {
        String(decoding: try JSONWriter().bytes(of: value), as: UTF8.self)
    }

    @Test func `every form of a value has the bytes of Foundation's encoder`() throws {
        #expect(try own(Everything()) == foundation(Everything()))
        #expect(try own("text") == foundation("text"))
        #expect(try own(3.0) == foundation(3.0))
        #expect(try own([Int]()) == "[]" && own(Nothing()) == "{}")
    }

    @Test func `one writer writes many values, also after one that failed`() throws {
        let writer = JSONWriter()
        let first = try writer.bytes(of: Everything())
        var text = Array("kept".utf8)
        #expect(throws: EncodingError.self) { try writer.write(["a": [1, Double.nan]], to: &text) }
        #expect(text == Array("kept".utf8))
        #expect(try writer.bytes(of: Everything()) == first)
    }
}
