import ControlWire
import FoundationEssentials
import NIOCore
import Synchronization
import TaskModel

/// One piece of an event stream, shared by all clients that get it.
///
/// The first client whose turn it is encodes it, on the thread of the control channel; the others send the
/// same bytes. A piece that every slow client leaves out is never encoded.
final class StreamFrame: Sendable {
    private enum Form: Sendable {
        case value(@Sendable () throws -> ByteBuffer)
        case text(ByteBuffer)
    }

    private let form: Mutex<Form>

    /// Makes a piece whose text is not made yet.
    init(_ encode: @escaping @Sendable () throws -> ByteBuffer) { form = Mutex(.value(encode)) }

    /// The piece that tells clients about something in the host.
    convenience init(_ event: HostEvent) {
        self.init {
            let message = HostEventMessage(event)
            return try Self.text(message.name, message)
        }
    }

    /// The piece for a line of the log.
    convenience init(_ line: LogLine) { self.init { try Self.text(of: line) } }

    /// Its text; made once.
    func text() throws -> ByteBuffer {
        try form.withLock { form in
            switch form {
            case .text(let text): return text
            case .value(let encode):
                let text = try encode()
                form = .text(text)
                return text
            }
        }
    }

    // MARK: The text of server-sent events (WHATWG HTML, section 9.2)

    static let opening = ByteBuffer(string: ": bgtask\n\n")
    static let heartbeat = StreamFrame { ByteBuffer(string: ": alive\n\n") }

    /// One event; JSON on one line has no line break that would end the field.
    static func text(_ name: String, _ message: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(name)\ndata: ")
        buffer.writeBytes(try ControlJSON.line(message))
        buffer.writeString("\n\n")
        return buffer
    }

    /// A line of the log as an event.
    static func text(of line: LogLine) throws -> ByteBuffer { try text("line", LogLineMessage(line)) }
}
