import StrictFiles
import TaskModel

/// Encodes a call in the format of the runner: Documentation/RunnerProtocol.md, "Call programs".
struct CallProgramEncoder {
    /// The size limit of an encoded program, in bytes.
    static let maximumSize = 60_000

    let subject: String
    let payload: Payload
    /// The paths that contain values of the payload; strings count if they look like paths.
    private(set) var paths: [PayloadPath] = []
    private var bytes: [UInt8] = []
    private var names: [String] = []
    private var libraries: [String] = []
    private var callbacks: [String] = []

    init(subject: String, payload: Payload) {
        self.subject = subject
        self.payload = payload
    }

    mutating func encode(_ program: CallProgram) throws(SubmissionError) -> [UInt8] {
        libraries = [program.library]
        callbacks = program.callbacks.map(\.name)
        for callback in program.callbacks { try write(callback) }
        for step in program.steps { try write(step, program.library) }
        if let message = program.message {
            try write(message, program.library)
            if let offset = program.messageOffset { number(offset, 4) }
        }
        if let call = program.onExpiration { try write(call, program.library) }
        // The tables come first, but are complete only after the body has been encoded.
        let body = bytes
        bytes = Array("BGC1".utf8)
        for count in [libraries.count, names.count, program.callbacks.count, program.stepCount] {
            number(count, 2)
        }
        byte(
            (program.message == nil ? 0 : 1) | (program.onExpiration == nil ? 0 : 2)
                | (program.messageOffset == nil ? 0 : 4))
        for library in libraries { try text(library, "a library") }
        for name in names { try text(name, "a name") }
        bytes += body
        guard bytes.count <= Self.maximumSize else {
            throw refusal(
                "the call's program has \(bytes.count) bytes with this payload; the limit is \(Self.maximumSize)",
                "Submit a path instead of contents")
        }
        return bytes
    }

    // MARK: Parts

    private mutating func write(_ callback: CallCallback) throws(SubmissionError) {
        byte(callback.returns.wireValue)
        byte(callback.parameters.count)
        for type in callback.parameters { byte(type.wireValue) }
        byte(callback.counts ? 1 : 0)
        byte(callback.completed ?? 0)
        byte(callback.total ?? 0)
        try value(callback.proceed, of: callback.returns)
        try value(callback.stop, of: callback.returns)
    }

    mutating func write(_ invocation: CallInvocation, _ library: String) throws(SubmissionError) {
        let name = invocation.library ?? library
        let index = libraries.firstIndex(of: name) ?? libraries.count
        if index == libraries.count { libraries.append(name) }
        number(index, 2)
        try text(invocation.function, "a function")
        if let members = invocation.returnedStruct {
            byte(25)
            write(members)
        } else {
            byte(invocation.returns.wireValue)
        }
        byte(invocation.variadicFrom ?? 0)
        byte(invocation.arguments.count)
        for argument in invocation.arguments { try write(argument) }
    }

    private mutating func write(_ argument: CallArgument) throws(SubmissionError) {
        switch argument {
        case .literal(.string, .text(let text)):
            byte(2)
            try path(text, .any, "a string")
        case .literal(let type, let literal):
            byte(1)
            byte(type.wireValue)
            try value(literal, of: type)
        case .null: byte(3)
        case .use(let name):
            byte(4)
            self.name(name)
        case .out(let type, let name):
            byte(5)
            byte(type.wireValue)
            self.name(name)
        case .reference(let type, let name, let from):
            byte(6)
            byte(type.wireValue)
            self.name(name)
            try source(from, of: type)
        case .buffer(let size, let name):
            byte(7)
            self.name(name)
            try source(size, of: .size)
        case .file(let path, let name):
            byte(8)
            self.name(name)
            try self.path(path, .read, "a file's path")
        case .sizeOf(let name):
            byte(9)
            self.name(name)
        case .callback(let name):
            byte(10)
            number(callbacks.firstIndex(of: name) ?? 0, 2)
        case .converted(let type, let name):
            // A literal whose value is a name.
            byte(1)
            byte(type.wireValue)
            try source(.name(name), of: type)
        case .field(let field):
            byte(11)
            write(field)
        case .list(let texts):
            byte(12)
            byte(texts.count)
            for text in texts { try path(text, .any, "a text of argv") }
        case .structure(let members, let name):
            byte(13)
            self.name(name)
            write(members)
        }
    }

    mutating func source(_ source: CallSource, of type: CallType) throws(SubmissionError) {
        switch source {
        case .name(let name):
            byte(4)
            self.name(name)
        case .literal(let literal): try value(literal, of: type)
        }
    }

    /// Encodes a value: its kind, then eight bytes, a text, or nothing for null.
    mutating func value(_ literal: CallLiteral, of type: CallType) throws(SubmissionError) {
        switch literal {
        case .integer(let number):
            byte(0)
            self.number(number, 8)
        case .floating(let number):
            byte(1)
            self.number(Int64(bitPattern: number.bitPattern), 8)
        case .null: byte(2)
        case .text(let text):
            guard type != .string else {
                byte(3)
                return try path(text, .any, "a string")
            }
            let filled = try fill(text)
            guard let number = LiteralReader.number(filled, of: type) else {
                throw refusal(
                    "the payload's '\(filled.shortened)' is not a valid \(type.rawValue)",
                    "Submit a value in its range")
            }
            try value(number, of: type)
        }
    }

    private func fill(_ text: String) throws(SubmissionError) -> String {
        guard PayloadText.isTemplate(text) else { return text }
        return try payload.fill(text)
    }

    /// Encodes a text that is or may be a path, and adds it to ``paths`` if it contains a value of the
    /// payload.
    mutating func path(
        _ text: String, _ access: PayloadPath.Access, _ what: String
    ) throws(SubmissionError) {
        let filled = try fill(text)
        let used = PayloadPath(template: text, path: filled, access: access)
        if PayloadText.isTemplate(text), used.isPath { paths.append(used) }
        try self.text(filled, what)
    }

    private func refusal(_ finding: String, _ remedy: String) -> SubmissionError {
        SubmissionError(code: .invalidRequest, subject: subject, finding: finding, remedy: remedy)
    }

    /// Encodes the types of the members of a struct.
    private mutating func write(_ members: [CallType]) {
        byte(members.count)
        for member in members { byte(member.wireValue) }
    }

    // MARK: Bytes

    mutating func byte(_ value: Int) {
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    mutating func number(_ value: some FixedWidthInteger, _ size: Int) {
        for index in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (index * 8))) }
    }

    private mutating func text(_ text: String, _ what: String) throws(SubmissionError) {
        guard text.utf8.count < 1 << 16 else {
            throw refusal(
                "\(what) has \(text.utf8.count) bytes; the limit is 65535",
                "Submit a path instead of contents")
        }
        number(text.utf8.count, 2)
        bytes += Array(text.utf8)
    }

    mutating func name(_ name: String) {
        let index = names.firstIndex(of: name) ?? names.count
        if index == names.count { names.append(name) }
        number(index, 2)
    }
}

extension CallType {
    /// The type's number in the runner's format.
    var wireValue: Int {
        switch self {
        case .void: 0
        case .bool: 1
        case .char: 2
        case .uchar: 3
        case .short: 4
        case .ushort: 5
        case .int: 6
        case .uint: 7
        case .long: 8
        case .ulong: 9
        case .longlong: 10
        case .ulonglong: 11
        case .int8: 12
        case .uint8: 13
        case .int16: 14
        case .uint16: 15
        case .int32: 16
        case .uint32: 17
        case .int64: 18
        case .uint64: 19
        case .size: 20
        case .float: 21
        case .double: 22
        case .pointer: 23
        case .string: 24
        }
    }
}
