import CYAML

/// The events of a YAML text, one after the other, with their places.
///
/// The only file that knows libyaml. It reads events and no tree, so that a reader can refuse an alias where
/// it is written, before the alias has multiplied anything.
struct YAMLEvents: ~Copyable {
    /// What begins or ends at a place.
    enum Event {
        case streamStart, streamEnd, documentStart, documentEnd
        /// `isPlain` is false for quoted and block scalars.
        case scalar(String, isPlain: Bool)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case alias
    }

    /// One event.
    struct Item {
        var event: Event
        /// Where it begins.
        var place: Place
        /// The name after `&`; `nil` if there is none.
        var anchor: String?
        /// The tag with its full name; `nil` if none is written.
        var tag: String?
    }

    /// Why the text is not YAML.
    struct Failure: Error {
        /// `nil` if it concerns no place.
        var place: Place?
        var finding: String
        var remedy: String?
    }

    /// On the heap, because libyaml keeps its address.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// A copy of the text, which libyaml reads from as it goes.
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// Begins with the first event.
    ///
    /// - Parameter bytes: UTF-8.
    /// - Throws: A ``Failure`` if there is no memory.
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

    /// The next event; `streamEnd` is the last one.
    ///
    /// - Throws: A ``Failure`` with the place where the text stops being YAML; nothing follows it.
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
        // After its last event, libyaml has only YAML_NO_EVENT.
        default: return Item(event: .streamEnd, place: place)
        }
    }

    /// What libyaml says about the call that failed.
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

    /// The place of a byte of the text, whose characters before it are valid.
    private func place(ofByte offset: Int) -> Place {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Every byte that does not continue a character begins one.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 }
        return Place(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1)
    }

    /// libyaml counts from 0.
    private static func place(_ mark: yaml_mark_t) -> Place {
        Place(line: mark.line + 1, column: mark.column + 1)
    }

    private static func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        bytes.map { String(cString: $0) }
    }
}
