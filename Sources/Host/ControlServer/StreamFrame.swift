import ControlWire
import FoundationEssentials
import NIOCore
import Synchronization
import TaskModel

/// One frame of an event stream, shared by all clients that receive it.
///
/// It is encoded when the first client sends it, on the thread of the control channel; the other clients send
/// the same bytes. A frame that no client sends is never encoded.
final class StreamFrame: Sendable {
    private enum Form: Sendable {
        case value(@Sendable () throws -> ByteBuffer)
        case text(ByteBuffer)
    }

    private let form: Mutex<Form>

    /// Creates a frame that is encoded when it is first sent.
    init(_ encode: @escaping @Sendable () throws -> ByteBuffer) { form = Mutex(.value(encode)) }

    /// Creates the frame of an event.
    convenience init(_ event: HostEvent) {
        self.init { try Self.text(of: HostEventMessage(event)) }
    }

    /// Creates the frame of the event that a handler has printed or logged a line.
    convenience init(output line: LogLine) {
        self.init { try Self.text(of: HostEventMessage.output(LogLineMessage(line))) }
    }

    /// Creates the frame of a line of the log.
    convenience init(_ line: LogLine) { self.init { try Self.text(of: line) } }

    /// The encoded text; the first call encodes it.
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

    /// Encodes one event.
    ///
    /// The JSON is on one line, because a line break would end the field `data`.
    static func text(_ name: String, _ message: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(name)\ndata: ")
        buffer.writeBytes(try ControlJSON.line(message))
        buffer.writeString("\n\n")
        return buffer
    }

    private static func text(of message: HostEventMessage) throws -> ByteBuffer {
        try text(message.name, message)
    }

    /// Encodes a line of the log as an event.
    static func text(of line: LogLine) throws -> ByteBuffer { try text("line", LogLineMessage(line)) }
}
