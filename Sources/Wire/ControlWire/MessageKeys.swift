/// The keys that a message may have.
///
/// A type reveals its keys when it decodes itself from a decoder that records every key that it is asked for.
/// So there is no list to keep up to date: a property that is added to a message is a valid key immediately.
public struct MessageKeys: Equatable, Sendable {
    /// The keys of the object itself, in the order in which the type declares them.
    public var names: [String] = []
    /// The keys of the objects inside, by the key of each object.
    public var nested: [String: MessageKeys] = [:]

    /// Finds the keys of a type.
    ///
    /// The result is `nil` if the type refuses the sample values, because then only some of its keys are
    /// known.
    public init?(of type: (some Decodable).Type) {
        let notes = KeyNotes()
        guard (try? type.init(from: SampleDecoder(notes: notes))) != nil else { return nil }
        self.init(notes)
    }

    private init(_ notes: KeyNotes) {
        names = notes.names
        nested = notes.nested.mapValues(MessageKeys.init).filter { !$0.value.names.isEmpty }
    }

    /// Checks that an object has only keys that the type has.
    ///
    /// - Parameter decoder: The decoder of the object. Any other JSON value passes, because decoding the type
    ///   refuses it later.
    /// - Throws: ``UnknownKeyError`` for the first unknown key in alphabetical order.
    func check(_ decoder: any Decoder) throws {
        guard let object = try? decoder.container(keyedBy: AnyKey.self) else { return }
        try check(object)
    }

    private func check(_ object: KeyedDecodingContainer<AnyKey>) throws {
        for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard names.contains(key.stringValue) else {
                let path = (object.codingPath + [key]).map(\.stringValue)
                throw UnknownKeyError(path: path, validKeys: names)
            }
            guard let keys = nested[key.stringValue],
                let inner = try? object.nestedContainer(keyedBy: AnyKey.self, forKey: key)
            else { continue }
            try keys.check(inner)
        }
    }
}

/// A key that the type of a message does not have.
public struct UnknownKeyError: Error, Equatable, Sendable {
    /// The unknown key, preceded by the keys of the objects that contain it.
    public var path: [String]
    /// The keys that the innermost object may have.
    public var validKeys: [String]

    public init(path: [String], validKeys: [String]) {
        self.path = path
        self.validKeys = validKeys
    }
}

/// A message that is refused if it has a key that its type does not know.
///
/// The host decodes requests this way: if it ignored a mistyped key, it would do something other than the
/// client intended. Clients decode responses without this check, because a newer host may add keys.
struct StrictMessage<Message: Decodable>: Decodable {
    let message: Message

    init(from decoder: any Decoder) throws {
        try MessageKeys(of: Message.self)?.check(decoder)
        message = try Message(from: decoder)
    }
}

/// A coding key with any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The keys that a type asked a ``SampleDecoder`` for.
private final class KeyNotes {
    var names: [String] = []
    var nested: [String: KeyNotes] = [:]

    /// Records a key, and returns the record for the keys of its value.
    func note(_ key: some CodingKey) -> KeyNotes {
        if !names.contains(key.stringValue) { names.append(key.stringValue) }
        let notes = nested[key.stringValue] ?? KeyNotes()
        nested[key.stringValue] = notes
        return notes
    }
}

/// A decoder that gives a type sample values and records the keys that the type asks for.
private struct SampleDecoder: Decoder {
    let notes: KeyNotes
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleObject(notes: notes))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleList() }
    func singleValueContainer() -> any SingleValueDecodingContainer { SampleValue(notes: notes) }

    /// The simplest value of a type: 0, false, or the first case.
    static func sample<Value: Decodable>(_ type: Value.Type, _ notes: KeyNotes) throws -> Value {
        let plain: Any? =
            switch type {
            // One letter is also a valid identifier.
            case is String.Type: "a"
            case is Bool.Type: false
            case is Double.Type: 0.0
            case is Float.Type: Float(0)
            case let number as any FixedWidthInteger.Type: number.init(truncatingIfNeeded: 0)
            case let words as any CaseIterable.Type: first(of: words)
            default: nil
            }
        if let plain = plain as? Value { return plain }
        return try Value(from: SampleDecoder(notes: notes))
    }

    private static func first<Words: CaseIterable>(of words: Words.Type) -> Any? { words.allCases.first }
}

private struct SampleObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: KeyNotes
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        _ = notes.note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        _ = notes.note(key)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try SampleDecoder.sample(type, notes.note(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        // A sample may not be a valid value of this type. The value can be missing, and its keys have been
        // recorded.
        try? SampleDecoder.sample(type, notes.note(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(SampleObject<Nested>(notes: notes.note(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        _ = notes.note(key)
        return SampleList()
    }

    func superDecoder() -> any Decoder { SampleDecoder(notes: notes) }
    func superDecoder(forKey key: Key) -> any Decoder { SampleDecoder(notes: notes.note(key)) }
}

private struct SampleValue: SingleValueDecodingContainer {
    let notes: KeyNotes
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try SampleDecoder.sample(type, notes)
    }
}

/// A list without elements.
private struct SampleList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    private var end: DecodingError {
        .valueNotFound(Any.self, .init(codingPath: [], debugDescription: "the list has no elements"))
    }

    mutating func decodeNil() throws -> Bool { throw end }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw end }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw end }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw end }
    mutating func superDecoder() throws -> any Decoder { throw end }
}
