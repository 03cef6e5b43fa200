import Foundation

/// A stream of events from a host's control socket: server-sent events in a chunked answer.
///
/// Blocks the thread that reads it.
struct ControlStream: ~Copyable {
    /// One event.
    struct Event {
        var name: String
        var data: Data
    }

    private let descriptor: CInt
    private var received = Data()
    private var text = Data()

    /// Asks for a stream and waits for the head of its answer.
    ///
    /// - Throws: What a refusal's answer is, or why there is none.
    static func open(_ connection: ControlConnection, _ route: String) throws(OpeningError) -> ControlStream {
        do {
            let descriptor = try connection.start("POST", route)
            var stream = ControlStream(descriptor: descriptor)
            while true {
                if let end = stream.received.range(of: Data("\r\n\r\n".utf8)) {
                    let answer = try ControlConnection.parse(stream.received[..<end.upperBound], head: true)
                    guard answer.status == 200 else {
                        while try stream.receive() {}
                        throw OpeningError.refused(try ControlConnection.parse(stream.received))
                    }
                    stream.received = Data(stream.received[end.upperBound...])
                    return stream
                }
                guard try stream.receive() else {
                    throw ControlConnection.Failure(
                        description: "the host closed the stream without an answer")
                }
            }
        } catch let error as OpeningError {
            throw error
        } catch let failure as ControlConnection.Failure {
            throw .failed(failure)
        } catch {
            throw .failed(ControlConnection.Failure(description: "\(error)"))
        }
    }

    /// Why there is no stream.
    enum OpeningError: Error {
        /// The host answered otherwise.
        case refused(ControlConnection.Answer)
        /// It did not answer.
        case failed(ControlConnection.Failure)
    }

    private init(descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for the next event; `nil` when the stream has ended.
    mutating func next() -> Event? {
        while true {
            while let end = text.range(of: Data("\n\n".utf8)) {
                let block = String(decoding: text[..<end.lowerBound], as: UTF8.self)
                text = Data(text[end.upperBound...])
                if let event = Self.event(in: block) { return event }
            }
            guard takeChunk() || (try? receive()) == true else { return nil }
        }
    }

    /// Moves one whole chunk to the text; false if none is there yet.
    private mutating func takeChunk() -> Bool {
        guard let end = received.range(of: Data("\r\n".utf8)) else { return false }
        let digits = String(decoding: received[..<end.lowerBound], as: UTF8.self).prefix { $0.isHexDigit }
        guard let count = Int(digits, radix: 16), count > 0, received.endIndex - end.upperBound >= count + 2
        else {
            return false
        }
        text += received[end.upperBound..<end.upperBound + count]
        received = Data(received[(end.upperBound + count + 2)...])
        return true
    }

    /// Waits for more bytes; false at the end.
    private mutating func receive() throws(ControlConnection.Failure) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw ControlConnection.Failure(description: "the host is silent") }
            received += buffer[..<max(0, count)]
            return count > 0
        }
    }

    /// The event of a block of lines; `nil` for comments.
    private static func event(in block: String) -> Event? {
        var name = "", data = ""
        for line in block.split(separator: "\n") {
            if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { data += line.dropFirst(6) }
        }
        return name.isEmpty ? nil : Event(name: name, data: Data(data.utf8))
    }
}
