/// A C type that a `call:` can pass or receive.
///
/// Structs by value are not among them: they need a plugin.
public enum CallType: String, Sendable, CaseIterable, Hashable, Codable {
    // C's own names; the unsigned forms begin with `u`.
    case void, bool, char, uchar, short, ushort, int, uint, long, ulong, longlong, ulonglong
    case int8, uint8, int16, uint16, int32, uint32, int64, uint64, size
    case float, double
    case pointer, string

    /// Whether it is a whole number, `bool` included.
    public var isInteger: Bool {
        switch self {
        case .void, .float, .double, .pointer, .string: false
        default: true
        }
    }

    /// Whether it is `float` or `double`.
    public var isFloating: Bool { self == .float || self == .double }

    /// Whether it is an address.
    public var isPointer: Bool { self == .pointer || self == .string }

    /// Bits and sign of a whole number on 64-bit Linux; `nil` for the other types.
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

/// A value that a manifest states.
public enum CallLiteral: Equatable, Sendable, Codable {
    /// A whole number; unsigned ones above `Int64.max` keep their bits.
    case integer(Int64)
    /// A number with a fraction.
    case floating(Double)
    /// A text, or a number that the payload brings; may hold `${payload.KEY}`.
    case text(String)
    /// NULL.
    case null
}

/// A number that an argument needs: stated, or the value of a name.
public enum CallSource: Equatable, Sendable, Codable {
    /// Stated.
    case literal(CallLiteral)
    /// The value of a name.
    case name(String)
}

/// One argument of a call.
public enum CallArgument: Equatable, Sendable, Codable {
    /// A literal of a type.
    case literal(CallType, CallLiteral)
    /// NULL.
    case null
    /// The value of a name; of a buffer or a file, its address.
    case use(String)
    /// The address of a zeroed variable; afterwards its value has the name.
    case out(CallType, name: String)
    /// The address of a variable that begins with a value.
    case reference(CallType, name: String, from: CallSource)
    /// The address of zeroed memory of a size.
    case buffer(CallSource, name: String)
    /// The address of a mapped file, read-only.
    case file(String, name: String)
    /// The bytes of a buffer or a file.
    case sizeOf(String)
    /// The address of a callback.
    case callback(String)

    /// The name that it reads; `nil` if it reads none.
    public var usedNames: [String] {
        switch self {
        case .use(let name), .sizeOf(let name), .reference(_, _, from: .name(let name)),
            .buffer(.name(let name), _):
            [name]
        default: []
        }
    }

    /// The name that it binds; `nil` if it binds none.
    public var boundName: String? {
        switch self {
        case .out(_, let name), .reference(_, let name, _), .buffer(_, let name), .file(_, let name): name
        case .literal, .null, .use, .sizeOf, .callback: nil
        }
    }
}

/// One call of a C function.
public struct CallInvocation: Equatable, Sendable, Codable {
    /// Where the function is; `nil` for the program's library.
    public var library: String?
    /// Its symbol.
    public var function: String
    /// What it returns.
    public var returns: CallType
    /// What it is called with.
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
