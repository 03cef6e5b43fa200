/// Decodes the response to one HTTP/1.1 request from the bytes of a connection (RFC 9112).
///
/// It has no I/O: it takes bytes and returns bytes of the body. It supports bodies with a length, in chunks,
/// and up to the end of the connection.
struct AnswerDecoder {
    /// The largest number of bytes in a line of the head; a host's header fields are far shorter.
    static let maximumLine = 64 << 10

    private enum State: Equatable {
        case statusLine
        case fields
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailer
        case untilEnd
        case done
    }

    /// The HTTP status; `nil` until the head is complete.
    private(set) var status: Int?
    private var state = State.statusLine
    private var line: [UInt8] = []
    private var announced = 0
    private var length: Int?
    private var isChunked = false

    /// Whether the response is complete.
    var isDone: Bool { state == .done }

    /// Decodes the next bytes; bytes after the response are ignored.
    ///
    /// - Returns: The bytes of the body that they contain.
    /// - Throws: ``ControlFailure/broken(_:)`` if the bytes are not valid HTTP.
    mutating func decode(_ bytes: [UInt8]) throws(ControlFailure) -> [UInt8] {
        var rest = bytes[...]
        var body: [UInt8] = []
        while !rest.isEmpty {
            switch state {
            case .body(let left):
                let part = rest.prefix(left)
                body += part
                rest = rest.dropFirst(left)
                state = part.count == left ? .done : .body(left: left - part.count)
            case .chunk(let left):
                let part = rest.prefix(left)
                body += part
                rest = rest.dropFirst(left)
                state = part.count == left ? .chunkEnd : .chunk(left: left - part.count)
            case .untilEnd:
                body += rest
                return body
            case .done:
                return body
            case .statusLine, .fields, .chunkSize, .chunkEnd, .trailer:
                let end = rest.firstIndex(of: UInt8(ascii: "\n"))
                line += rest[..<(end ?? rest.endIndex)]
                rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
                guard line.count <= Self.maximumLine else {
                    throw .broken("a line in the head of its answer is too long")
                }
                if end != nil { try takeLine() }
            }
        }
        return body
    }

    /// Must be called at the end of the connection.
    ///
    /// - Throws: ``ControlFailure/broken(_:)`` if the response is not complete.
    mutating func finish() throws(ControlFailure) {
        switch state {
        case .done, .untilEnd: state = .done
        case .statusLine where line.isEmpty: throw .broken("it closed the connection")
        default: throw .broken("the answer stopped in the middle")
        }
    }

    private mutating func takeLine() throws(ControlFailure) {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        switch state {
        case .statusLine:
            let words = text.split(separator: " ")
            guard words.count > 1, words[0].hasPrefix("HTTP/1."), let number = Int(words[1]) else {
                throw .broken("its answer is not HTTP")
            }
            announced = number
            state = .fields
        case .fields:
            if text.isEmpty { beginBody() } else { try takeField(text) }
        case .chunkSize:
            guard let count = Int(text.prefix { $0.isHexDigit }, radix: 16) else {
                throw .broken("a chunk of its answer has no size")
            }
            state = count == 0 ? .trailer : .chunk(left: count)
        case .chunkEnd:
            guard text.isEmpty else { throw .broken("a chunk of its answer is longer than its size") }
            state = .chunkSize
        case .trailer:
            if text.isEmpty { state = .done }
        case .body, .chunk, .untilEnd, .done:
            break
        }
    }

    private mutating func takeField(_ text: String) throws(ControlFailure) {
        guard let colon = text.firstIndex(of: ":") else { throw .broken("its answer is not HTTP") }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            .prefix { $0 != " " && $0 != "\t" }
        switch text[..<colon].lowercased() {
        case "content-length":
            guard let count = Int(value), count >= 0 else { throw .broken("its answer has no valid length") }
            length = count
        case "transfer-encoding":
            isChunked = value.lowercased().hasSuffix("chunked")
        default:
            break
        }
    }

    private mutating func beginBody() {
        // A status 1xx is provisional; the final response follows.
        if (100..<200).contains(announced) {
            state = .statusLine
            return
        }
        status = announced
        if isChunked {
            state = .chunkSize
        } else if let length {
            state = length == 0 ? .done : .body(left: length)
        } else {
            state = announced == 204 ? .done : .untilEnd
        }
    }
}
