import TaskModel

/// A C type as a header declares it, with typedefs resolved.
indirect enum HeaderType: Equatable, Sendable {
    case void
    /// An integer; the sign is `nil` where either fits: for enums and plain `char`.
    case integer(bits: Int, isSigned: Bool?, word: CallType)
    case floating(CallType)
    case pointer(to: HeaderType, isConstant: Bool)
    case function(HeaderSignature)
    /// A struct or union, by the key of ``HeaderStructs``.
    case structure(String)
    case array(HeaderType, count: Int?)
    /// A type that a call can't pass, such as `long double`.
    case other(String)

    static let character = HeaderType.integer(bits: 8, isSigned: nil, word: .char)
    static let enumeration = HeaderType.integer(bits: 32, isSigned: nil, word: .int)

    /// An integer of a type of calls.
    static func integer(_ word: CallType) -> HeaderType {
        let format = word.integerFormat ?? (64, true)
        return .integer(bits: format.bits, isSigned: format.isSigned, word: word)
    }

    /// The type as a parameter: arrays and functions are pointers there.
    var asParameter: HeaderType {
        switch self {
        // `int pair[2]` is the address of both.
        case .array(let element, let count?) where count > 1 && !element.isText:
            .pointer(to: self, isConstant: false)
        case .array(let element, _): .pointer(to: element, isConstant: false)
        case .function: .pointer(to: self, isConstant: false)
        default: self
        }
    }

    /// The word of a `call:` for the type; `nil` if it needs more than a word.
    var word: CallType? {
        switch self {
        case .void: .void
        case .integer(_, _, let word), .floating(let word): word
        case .pointer(let target, _): target.isText ? .string : .pointer
        case .function, .array: .pointer
        case .structure, .other: nil
        }
    }

    /// Whether an array of the type can be a text: `char`, or a byte such as libxml2's `xmlChar`.
    var isText: Bool {
        if case .integer(bits: 8, _, _) = self { true } else { false }
    }
}

/// The signature of a function.
struct HeaderSignature: Equatable, Sendable {
    struct Parameter: Equatable, Sendable {
        var name: String?
        var type: HeaderType
        /// The declaration as it is written in the header: `const Bytef *source`.
        var text: String
    }

    var returns: HeaderType
    /// The parameters; `nil` for `()`, which says nothing about them.
    var parameters: [Parameter]?
    var isVariadic = false
}

/// A function that a header declares.
struct HeaderFunction: Equatable {
    var name: String
    var signature: HeaderSignature
    /// The declaration: `int compress(Bytef *dest, uLongf *destLen, const Bytef *source, uLong sourceLen)`.
    var text: String
    /// The path of the header, and the line in it.
    var file: String
    var line: Int

    /// The place of the declaration: `zlib.h:1259`.
    var place: String { "\(file.split(separator: "/").last ?? ""):\(line)" }
}

/// A macro that a header defines.
struct HeaderMacro: Equatable {
    var name: String
    var hasParameters: Bool
    var replacement: String
}

/// The structs and unions that a header declares.
struct HeaderStructs: Equatable {
    struct Member: Equatable {
        var name: String?
        var type: HeaderType
    }

    struct Body: Equatable {
        var isUnion: Bool
        /// The members; `nil` if their offsets can't be told, as those of bit fields.
        var members: [Member]?
    }

    struct Place: Equatable {
        var name: String
        var offset: Int
        var type: CallType
    }

    private static let deepest = 16
    /// The greatest size of a type in bytes, far above that of any struct, so that sums can't overflow.
    private static let largest = 1 << 32
    /// The greatest number of members that are listed: as many as a struct of a call can have.
    private static let mostPlaces = 255

    var bodies: [String: Body] = [:]
    /// The name to show for each key: the typedef's for a struct without a tag.
    var names: [String: String] = [:]

    /// The size and the alignment of a type in bytes; `nil` if the header does not tell.
    func layout(_ type: HeaderType, depth: Int = 0) -> (size: Int, alignment: Int)? {
        guard depth < Self.deepest else { return nil }
        switch type {
        case .void, .function, .other: return nil
        case .integer(let bits, _, _): return (max(1, bits / 8), max(1, bits / 8))
        case .floating(let word): return word == .float ? (4, 4) : (8, 8)
        case .pointer: return (8, 8)
        case .array(let element, let count):
            guard let count, let inner = layout(element, depth: depth + 1) else { return nil }
            let (size, isTooLarge) = inner.size.multipliedReportingOverflow(by: count)
            return isTooLarge || size > Self.largest ? nil : (size, inner.alignment)
        case .structure(let key):
            guard let body = bodies[key], let members = body.members else { return nil }
            var (end, widest) = (0, 1)
            for member in members {
                guard let inner = layout(member.type, depth: depth + 1) else { return nil }
                let start = body.isUnion ? 0 : Self.aligned(end, inner.alignment)
                end = max(end, start + inner.size)
                guard end <= Self.largest else { return nil }
                widest = max(widest, inner.alignment)
            }
            return (Self.aligned(end, widest), widest)
        }
    }

    /// All members of a struct, those of inner structs and arrays one by one; `nil` if a call can't pass it
    /// by value.
    func places(_ key: String) -> [Place]? {
        var places: [Place] = []
        guard collect(.structure(key), "", 0, &places, depth: 0), !places.isEmpty else { return nil }
        return places
    }

    private func collect(
        _ type: HeaderType, _ name: String, _ start: Int, _ places: inout [Place], depth: Int
    ) -> Bool {
        guard depth < Self.deepest, places.count <= Self.mostPlaces else { return false }
        switch type {
        case .array(let element, let count):
            guard let count, count <= Self.mostPlaces, let inner = layout(element) else { return false }
            return (0..<count).allSatisfy {
                collect(element, "\(name)\($0)", start + $0 * inner.size, &places, depth: depth + 1)
            }
        case .structure(let key):
            guard let body = bodies[key], !body.isUnion, let members = body.members else { return false }
            var end = start
            for (index, member) in members.enumerated() {
                guard let inner = layout(member.type) else { return false }
                let offset = Self.aligned(end, inner.alignment)
                let parts = [name, member.name ?? "member\(index)"].filter { !$0.isEmpty }
                guard collect(member.type, parts.joined(separator: "_"), offset, &places, depth: depth + 1)
                else { return false }
                end = offset + inner.size
            }
            return true
        default:
            guard let word = type.word, word != .void else { return false }
            places.append(Place(name: name, offset: start, type: word))
            return true
        }
    }

    private static func aligned(_ offset: Int, _ alignment: Int) -> Int {
        (offset + alignment - 1) / alignment * alignment
    }
}
