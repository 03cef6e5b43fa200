/// Takes server-sent events out of a stream of bytes (WHATWG HTML, section 9.2), as far as this channel uses
/// them.
///
/// Understands `event:` and `data:` fields, comments, and lines that end in LF or CRLF. Bounded: a peer that
/// sends a line or an event without end is an error.
public struct EventStreamDecoder: Sendable {
    /// One event.
    public struct Event: Equatable, Sendable {
        /// Its name; `message` if the sender gave none.
        public var name: String
        /// Its data, lines joined by LF.
        public var data: [UInt8]
    }

    /// An event, or a single line, that has more bytes than ``EventStreamDecoder/maximumLength``.
    public struct TooLong: Error, Equatable, Sendable {}

    /// Bytes of one event: more than any message of this channel has.
    public static let maximumLength = 4 << 20

    private var line: [UInt8] = []
    private var name: [UInt8] = []
    private var data: [UInt8]?

    /// Starts at the beginning of a stream.
    public init() {}

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// - Throws: ``TooLong``; the stream can't be used after it.
    public mutating func decode(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                if line.count + (data?.count ?? 0) > Self.maximumLength { throw TooLong() }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                if let event = finishEvent() { events.append(event) }
            } else {
                takeField()
            }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    private mutating func takeField() {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event":
            name = Array(value)
        case "data":
            data = data.map { $0 + [UInt8(ascii: "\n")] + value } ?? Array(value)
        default:
            break
        }
    }

    private mutating func finishEvent() -> Event? {
        defer {
            name = []
            data = nil
        }
        return data.map {
            Event(name: name.isEmpty ? "message" : String(decoding: name, as: UTF8.self), data: $0)
        }
    }
}
