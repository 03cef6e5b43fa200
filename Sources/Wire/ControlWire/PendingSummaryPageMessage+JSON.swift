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

extension JSONText {
    /// Adds the object of a row; its keys are in alphabetical order.
    fileprivate mutating func add(_ row: PendingSummaryMessage) {
        raw(#"{"attempt":"#)
        number(Int64(row.attempt))
        raw(#","earliestStart":"#)
        string(row.earliestStart?.description)
        raw(#","headline":"#)
        string(row.headline)
        raw(#","identifier":"#)
        string(row.identifier.rawValue)
        raw(#","kind":"#)
        string(row.kind.rawValue)
        raw(#","otherReasons":"#)
        number(Int64(row.otherReasons))
        raw(#","reason":"#)
        string(row.reason)
        raw(#","request":"#)
        string(row.request.description)
        raw(#","submittedAt":"#)
        string(row.submittedAt.description)
        if let tags = row.tags {
            raw(#","tags":"#)
            strings(tags.lazy.map(\.rawValue))
        }
        raw("}")
    }
}
