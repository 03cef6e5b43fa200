import TaskModel

/// The page as JSON, written without an encoder.
///
/// A listing of 100,000 requests spends most of its time in `JSONEncoder` otherwise.
extension PendingSummaryPageMessage {
    /// The page on one line, in the same bytes as `ControlJSON.line(_:)`.
    public var json: [UInt8] {
        var text = JSONText()
        text.raw(#"{"next":"#)
        text.string(next?.description)
        text.raw(#","requests":["#)
        for (index, row) in requests.enumerated() {
            if index > 0 { text.raw(",") }
            text.add(row)
        }
        text.raw("]}")
        return text.bytes
    }
}

/// JSON that is written piece by piece.
private struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// Adds a piece as it is.
    mutating func raw(_ piece: StaticString) {
        piece.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Adds the object of a row; its keys are in alphabetical order.
    mutating func add(_ row: PendingSummaryMessage) {
        raw(#"{"attempt":"#)
        bytes.append(contentsOf: String(row.attempt).utf8)
        raw(#","earliestStart":"#)
        string(row.earliestStart?.description)
        raw(#","headline":"#)
        string(row.headline)
        raw(#","identifier":"#)
        string(row.identifier.rawValue)
        raw(#","kind":"#)
        string(row.kind.rawValue)
        raw(#","otherReasons":"#)
        bytes.append(contentsOf: String(row.otherReasons).utf8)
        raw(#","reason":"#)
        string(row.reason)
        raw(#","request":"#)
        string(row.request.description)
        raw(#","submittedAt":"#)
        string(row.submittedAt.description)
        raw("}")
    }

    /// Adds a string, or `null`.
    mutating func string(_ string: String?) {
        guard let string else { return raw("null") }
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: raw(#"\b"#)
            case 0x09: raw(#"\t"#)
            case 0x0A: raw(#"\n"#)
            case 0x0C: raw(#"\f"#)
            case 0x0D: raw(#"\r"#)
            case 0..<0x20:
                raw(#"\u00"#)
                bytes.append(contentsOf: (byte < 0x10 ? "0" : "").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
