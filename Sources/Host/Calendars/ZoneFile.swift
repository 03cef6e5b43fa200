/// Reads a file of the time zone database: TZif, RFC 8536, versions 1 to 4.
///
/// The host reads the machine's own database, not a library's copy, so an update of `tzdata` takes effect.
struct ZoneFile {
    /// Why a file is not a time zone file.
    struct Malformed: Error {
        var finding: String
    }

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func read(_ bytes: [UInt8], name: String) throws(Malformed) -> ZoneRules {
        var file = Self(bytes)
        return try file.rules(name: name)
    }

    private struct Header {
        var version: UInt8
        var isUTC: Int
        var isStandard: Int
        var leap: Int
        var times: Int
        var types: Int
        var characters: Int

        func size(timeWidth: Int) -> Int {
            times * (timeWidth + 1) + types * 6 + characters + leap * (timeWidth + 4) + isStandard + isUTC
        }
    }

    private mutating func rules(name: String) throws(Malformed) -> ZoneRules {
        var header = try header()
        var timeWidth = 4
        if header.version >= 0x32 {
            // The first block has 32-bit times, for old readers; the second has the same contents with 64-bit
            // times.
            try skip(header.size(timeWidth: 4))
            header = try self.header()
            timeWidth = 8
        }
        guard header.leap == 0 else { throw Malformed(finding: "it counts leap seconds") }
        guard header.types > 0, header.types <= 256 else { throw Malformed(finding: "it has no local time") }
        let end = position + header.size(timeWidth: timeWidth)
        guard end <= bytes.count else { throw Malformed(finding: "it ends too early") }

        var times: [Int64] = []
        for _ in 0..<header.times { times.append(try integer(timeWidth)) }
        let indices = Array(bytes[position..<(position + header.times)])
        try skip(header.times)
        let typePosition = position
        let names = Array(
            bytes[(typePosition + header.types * 6)..<(typePosition + header.types * 6 + header.characters)])
        var types: [ZoneRules.LocalType] = []
        for _ in 0..<header.types {
            let offset = Int(try integer(4))
            guard abs(offset) < 26 * 3600 else { throw Malformed(finding: "an offset is 26 h or more") }
            try skip(1)
            let name = names.dropFirst(Int(bytes[position])).prefix { $0 != 0 }
            try skip(1)
            types.append(
                ZoneRules.LocalType(offset: offset, abbreviation: String(decoding: name, as: UTF8.self)))
        }
        var transitions: [ZoneRules.Transition] = []
        for (time, index) in zip(times, indices) {
            guard Int(index) < types.count, time > transitions.last?.at ?? .min else {
                throw Malformed(finding: "its transitions are out of order")
            }
            // Some files begin at the smallest 64-bit number. The limit keeps later sums within 64 bits.
            transitions.append(ZoneRules.Transition(at: max(time, -(1 << 60)), type: types[Int(index)]))
        }
        position = end
        return ZoneRules(
            name: name, initial: types[0], transitions: transitions,
            rule: timeWidth == 8 ? try footer() : nil)
    }

    private mutating func header() throws(Malformed) -> Header {
        guard position + 44 <= bytes.count, bytes[position..<(position + 4)].elementsEqual("TZif".utf8) else {
            throw Malformed(finding: "it is not a time zone file")
        }
        let version = bytes[position + 4]
        try skip(20)
        var counts: [Int] = []
        for _ in 0..<6 { counts.append(Int(UInt32(truncatingIfNeeded: try integer(4)))) }
        guard counts.allSatisfy({ $0 <= 1 << 16 }) else {
            throw Malformed(finding: "its header counts too many entries")
        }
        return Header(
            version: version, isUTC: counts[0], isStandard: counts[1], leap: counts[2], times: counts[3],
            types: counts[4], characters: counts[5])
    }

    private func footer() throws(Malformed) -> PosixRule? {
        let rest = bytes[min(position, bytes.count)...]
        guard rest.first == 0x0A else { return nil }
        let text = String(decoding: rest.dropFirst().prefix { $0 != 0x0A }, as: UTF8.self)
        if text.isEmpty { return nil }
        guard let rule = PosixRule(text) else {
            throw Malformed(finding: "its rule '\(text.prefix(60))' is not understood")
        }
        return rule
    }

    private mutating func skip(_ count: Int) throws(Malformed) {
        guard position + count <= bytes.count else { throw Malformed(finding: "it ends too early") }
        position += count
    }

    /// Reads a signed big-endian number of 4 or 8 bytes.
    private mutating func integer(_ width: Int) throws(Malformed) -> Int64 {
        let start = position
        try skip(width)
        let value = bytes[start..<position].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }
}
