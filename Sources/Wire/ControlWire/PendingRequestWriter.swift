public import TaskModel

/// Writes rows of a listing with all answers of the policies, in the bytes of `ControlJSON.line(_:)`.
///
/// Requests that wait for the same have mostly the same answers. So an answer that equals the one at the same
/// place of the row before is copied, which takes a tenth of the time of encoding it.
public struct PendingRequestWriter {
    private static let empty = Array(#""verdicts":[]"#.utf8)

    private let json = JSONWriter()
    /// The answers of the row before, and their text.
    private var before: [(verdict: Verdict, text: [UInt8])] = []

    /// Creates a writer.
    public init() {}

    /// Appends the object of a row.
    ///
    /// - Throws: `EncodingError` for a score that JSON does not have.
    public mutating func write(_ row: PendingRequest, to text: inout [UInt8]) throws {
        var bare = row
        bare.verdicts = []
        let object = try json.bytes(of: PendingRequestMessage(bare))
        // No text of a user can contain this: its quotation marks would be escaped.
        guard let place = object.firstRange(of: Self.empty) else {
            return try json.write(PendingRequestMessage(row), to: &text)
        }
        text += object[..<(place.upperBound - 1)]
        for (index, verdict) in row.verdicts.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            if index < before.count, before[index].verdict == verdict {
                text += before[index].text
                continue
            }
            let written = try json.bytes(of: VerdictMessage(verdict))
            text += written
            if index < before.count {
                before[index] = (verdict, written)
            } else if index == before.count {
                before.append((verdict, written))
            }
        }
        text += object[(place.upperBound - 1)...]
    }
}

extension [UInt8] {
    /// The first place of some bytes; `nil` if they are not there.
    fileprivate func firstRange(of bytes: [UInt8]) -> Range<Int>? {
        guard let first = bytes.first, count >= bytes.count else { return nil }
        var start = startIndex
        while let place = self[start...].firstIndex(of: first), place + bytes.count <= count {
            if self[place..<(place + bytes.count)].elementsEqual(bytes) {
                return place..<(place + bytes.count)
            }
            start = place + 1
        }
        return nil
    }
}
