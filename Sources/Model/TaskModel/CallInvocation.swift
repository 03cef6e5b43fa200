/// A C type that a `call:` can pass or receive.
///
/// Structs by value are lists of these types.
public enum CallType: String, Sendable, CaseIterable, Hashable, Codable {
    // The names are those of C; the unsigned forms begin with `u`.
    case void, bool, char, uchar, short, ushort, int, uint, long, ulong, longlong, ulonglong
    case int8, uint8, int16, uint16, int32, uint32, int64, uint64, size
    case float, double
    case pointer, string

    /// Whether the type is an integer; `bool` counts as one.
    public var isInteger: Bool {
        switch self {
        case .void, .float, .double, .pointer, .string: false
        default: true
        }
    }

    /// Whether the type is `float` or `double`.
    public var isFloating: Bool { self == .float || self == .double }

    /// Whether the type is an address.
    public var isPointer: Bool { self == .pointer || self == .string }

    /// The number of bits and the signedness of an integer type on 64-bit Linux; `nil` for the other types.
    public var integerFormat: (bits: Int, isSigned: Bool)? {
        switch self {
        case .bool: (1, false)
        case .char, .int8: (8, true)
        case .uchar, .uint8: (8, false)
        case .short, .int16: (16, true)
        case .ushort, .uint16: (16, false)
        case .int, .int32: (32, true)
        case .uint, .uint32: (32, false)
        case .long, .longlong, .int64: (64, true)
        case .ulong, .ulonglong, .uint64, .size: (64, false)
        case .void, .float, .double, .pointer, .string: nil
        }
    }
}

/// A constant in a manifest.
public enum CallLiteral: Equatable, Sendable, Codable {
    /// An integer; an unsigned one above `Int64.max` is stored as the same 64 bits.
    case integer(Int64)
    /// A floating-point number.
    case floating(Double)
    /// A text, or a number that the payload supplies; may contain `${payload.KEY}`.
    case text(String)
    /// The C constant `NULL`.
    case null
}

/// A number that an argument needs, such as a size.
public enum CallSource: Equatable, Sendable, Codable {
    /// A constant.
    case literal(CallLiteral)
    /// The value of the variable, buffer or result with this name.
    case name(String)
}

/// One argument of a call.
public enum CallArgument: Equatable, Sendable, Codable {
    /// A constant of a type.
    case literal(CallType, CallLiteral)
    /// The C constant `NULL`.
    case null
    /// The value with this name; for a buffer or a file, its address.
    case use(String)
    /// The address of a variable that is 0 before the call; afterwards, `name` is the variable's value.
    case out(CallType, name: String)
    /// The address of a variable that has the value of `from` before the call; afterwards, `name` is its
    /// value.
    case reference(CallType, name: String, from: CallSource)
    /// The address of a zeroed buffer; the first value is its size in bytes.
    case buffer(CallSource, name: String)
    /// The address of a file's contents, mapped read-only; the first value is the file's path.
    case file(String, name: String)
    /// The size, in bytes, of the buffer or file with this name.
    case sizeOf(String)
    /// The address of the callback with this name.
    case callback(String)
    /// The value with this name, converted to a type of numbers.
    case converted(CallType, String)
    /// The value of a member of a struct.
    case field(CallField)
    /// The address of a NULL-terminated array of the addresses of these texts.
    case list([String])
    /// The struct that the value with this name points to, by value; the types are those of its members.
    case structure([CallType], String)

    /// The names that this argument reads; empty if it reads none.
    public var usedNames: [String] {
        switch self {
        case .use(let name), .sizeOf(let name), .reference(_, _, from: .name(let name)),
            .buffer(.name(let name), _), .converted(_, let name),
            .structure(_, let name):
            [name]
        case .field(let field): [field.of]
        default: []
        }
    }

    /// The name that this argument defines; `nil` if it defines none.
    public var boundName: String? {
        switch self {
        case .out(_, let name), .reference(_, let name, _), .buffer(_, let name), .file(_, let name): name
        case .literal, .null, .use, .sizeOf, .callback, .converted, .field, .list, .structure: nil
        }
    }
}

/// A member of a struct that a name points to.
public struct CallField: Equatable, Sendable, Codable {
    /// The name of the pointer, buffer or file.
    public var of: String
    /// The number of bytes before the member.
    public var offset: Int
    /// The type of the member.
    public var type: CallType

    public init(of: String, offset: Int, type: CallType) {
        self.of = of
        self.offset = offset
        self.type = type
    }
}

/// One call of a C function.
public struct CallInvocation: Equatable, Sendable, Codable {
    /// The library that contains the function; `nil` selects the program's library.
    public var library: String?
    /// The function's symbol.
    public var function: String
    /// The type of the return value.
    public var returns: CallType
    /// The types of the members of the struct that the function returns by value; `nil` if it returns none.
    public var returnedStruct: [CallType]?
    /// The arguments, in order.
    public var arguments: [CallArgument]
    /// The position, from 1, of the first variadic argument; `nil` if the function is not variadic.
    public var variadicFrom: Int?

    public init(
        library: String? = nil, function: String, returns: CallType, arguments: [CallArgument] = [],
        variadicFrom: Int? = nil
    ) {
        self.library = library
        self.function = function
        self.returns = returns
        self.arguments = arguments
        self.variadicFrom = variadicFrom
    }
}
