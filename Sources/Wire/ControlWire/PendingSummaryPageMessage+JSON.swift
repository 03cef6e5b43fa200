import TaskModel

/// The page as JSON, written without an encoder.
///
/// With `JSONEncoder`, a listing of 100,000 requests would spend most of its time there.
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
        if let tags = row.tags {
            raw(#","tags":["#)
            for (index, tag) in tags.enumerated() {
                if index > 0 { raw(",") }
                string(tag.rawValue)
            }
            raw("]")
        }
        raw("}")
    }

    /// Adds a string, or `null`.
    mutating func string(_ string: String?) {
        guard let string else { return raw("null") }
        bytes.appendJSON(string)
    }
}
