/// Server-sent events in a response of the host, which decides when they end.
///
/// Reading blocks the thread.
public struct ControlStream {
    private var reader: AnswerReader
    private var decoder = EventStreamDecoder()
    private var unread: [UInt8]?
    private var events: ArraySlice<EventStreamDecoder.Event> = []

    init(_ reader: AnswerReader, _ first: [UInt8]) {
        (self.reader, unread) = (reader, first)
    }

    /// Waits for the next event; `nil` if the host has ended the stream.
    ///
    /// - Throws: ``ControlFailure``.
    public mutating func next() throws(ControlFailure) -> EventStreamDecoder.Event? {
        while events.isEmpty {
            let bytes: [UInt8]
            if let first = unread {
                (bytes, unread) = (first, nil)
            } else if let more = try reader.next() {
                bytes = more
            } else {
                return nil
            }
            do throws(EventStreamDecoder.TooLong) {
                events = try decoder.decode(bytes)[...]
            } catch {
                throw .broken("an event has more than \(EventStreamDecoder.maximumLength) bytes")
            }
        }
        return events.removeFirst()
    }
}
