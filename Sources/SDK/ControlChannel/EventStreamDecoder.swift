/// Decodes server-sent events from a stream of bytes (WHATWG HTML, section 9.2).
///
/// It supports what the control API uses: `event:` and `data:` fields, comments, and lines that end in LF or
/// CRLF. The size of a line and of an event is limited.
public struct EventStreamDecoder: Sendable {
    /// One event.
    public struct Event: Equatable, Sendable {
        /// The event's name; `message` if the stream has none.
        public var name: String
        /// The event's data; LF separates lines.
        public var data: [UInt8]
    }

    /// Thrown if an event, or a single line, has more bytes than ``EventStreamDecoder/maximumLength``.
    public struct TooLong: Error, Equatable, Sendable {}

    /// The largest number of bytes in one event; the messages of the control API are smaller.
    public static let maximumLength = 4 << 20

    private var line: [UInt8] = []
    private var name: [UInt8] = []
    private var data: [UInt8]?

    /// Creates a decoder for the beginning of a stream.
    public init() {}

    /// Decodes the next bytes, and returns the events that they complete.
    ///
    /// - Throws: ``TooLong``; after that, the stream cannot be decoded any more.
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
