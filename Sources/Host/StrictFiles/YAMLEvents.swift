import CYAML

/// The events of a YAML text, in order, with their positions.
///
/// Only this file uses libyaml. It reads libyaml's events instead of its tree, so that a reader can refuse an
/// alias before the alias multiplies any content.
struct YAMLEvents: ~Copyable {
    /// The kind of an event: the beginning or end of a part of the text, or a value.
    enum Event {
        case streamStart, streamEnd, documentStart, documentEnd
        /// A scalar; `isPlain` is false for quoted and block scalars.
        case scalar(String, isPlain: Bool)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case alias
    }

    /// One event.
    struct Item {
        var event: Event
        /// The position at which the event begins.
        var place: Place
        /// The name of the anchor (after `&`); `nil` if there is none.
        var anchor: String?
        /// The full name of the tag; `nil` if the text contains none.
        var tag: String?
    }

    /// Why the text is not YAML.
    struct Failure: Error {
        /// The position of the problem; `nil` if it has none.
        var place: Place?
        var finding: String
        var remedy: String?
    }

    /// The parser of libyaml.
    ///
    /// It is on the heap, because libyaml stores its address.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// A copy of the text, from which libyaml reads during parsing.
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// Prepares to read the first event.
    ///
    /// - Parameter bytes: The text, in UTF-8.
    /// - Throws: ``Failure`` if there is not enough memory.
    init(_ bytes: [UInt8]) throws(Failure) {
        parser = .allocate(capacity: 1)
        text = .allocate(capacity: max(1, bytes.count))
        _ = text.update(fromContentsOf: bytes)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            text.deallocate()
            throw Failure(finding: "there is not enough memory to read the file")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    /// Returns the next event; the last one is `streamEnd`.
    ///
    /// - Throws: ``Failure`` with the position at which the text is not valid YAML. Do not call the method
    ///   again after that.
    mutating func next() throws(Failure) -> Item {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { yaml_event_delete(&event) }
        let place = Self.place(event.start_mark)
        let data = event.data
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = data.scalar
            let value = String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return Item(
                event: .scalar(value, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), place: place,
                anchor: Self.text(scalar.anchor), tag: Self.text(scalar.tag))
        case YAML_SEQUENCE_START_EVENT:
            let start = data.sequence_start
            return Item(
                event: .sequenceStart, place: place, anchor: Self.text(start.anchor),
                tag: Self.text(start.tag))
        case YAML_MAPPING_START_EVENT:
            let start = data.mapping_start
            return Item(
                event: .mappingStart, place: place, anchor: Self.text(start.anchor), tag: Self.text(start.tag)
            )
        case YAML_ALIAS_EVENT: return Item(event: .alias, place: place)
        case YAML_SEQUENCE_END_EVENT: return Item(event: .sequenceEnd, place: place)
        case YAML_MAPPING_END_EVENT: return Item(event: .mappingEnd, place: place)
        case YAML_DOCUMENT_START_EVENT: return Item(event: .documentStart, place: place)
        case YAML_DOCUMENT_END_EVENT: return Item(event: .documentEnd, place: place)
        case YAML_STREAM_START_EVENT: return Item(event: .streamStart, place: place)
        // After the last event, libyaml returns only YAML_NO_EVENT.
        default: return Item(event: .streamEnd, place: place)
        }
    }

    /// The failure of the last call, in libyaml's words.
    private var failure: Failure {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it can't be read"
        switch parser.pointee.error {
        case YAML_MEMORY_ERROR:
            return Failure(finding: "there is not enough memory to read the file")
        case YAML_READER_ERROR:
            return Failure(
                place: place(ofByte: parser.pointee.problem_offset), finding: problem,
                remedy: "Remove control characters, and save the file as UTF-8")
        default:
            return Failure(
                place: Self.place(parser.pointee.problem_mark), finding: problem,
                remedy: "This is not valid YAML. Check the text just before this position")
        }
    }

    /// The position of a byte; all bytes before it must be valid UTF-8.
    private func place(ofByte offset: Int) -> Place {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A byte begins a character unless it is a continuation byte of UTF-8.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 }
        return Place(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1)
    }

    /// Converts a position of libyaml, which counts lines and columns from 0.
    private static func place(_ mark: yaml_mark_t) -> Place {
        Place(line: mark.line + 1, column: mark.column + 1)
    }

    private static func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        bytes.map { String(cString: $0) }
    }
}
