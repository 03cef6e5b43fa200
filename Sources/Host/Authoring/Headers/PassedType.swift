import TaskModel

/// What a call passes for an argument.
enum PassedType: Equatable {
    /// A value of a type, such as a number or an address.
    case value(CallType)
    /// A constant text.
    case text
    case null
    /// The address of a variable of a type.
    case address(CallType)
    /// The address of memory; the size is `nil` if it is not known before the launch.
    case memory(Int?)
    /// The address of a callback.
    case callback(String)
    /// The address of an array of texts.
    case list
    /// A struct by value, with the types of its members.
    case structure([CallType])
}

/// The types of the names of a call.
struct CallNameTypes {
    /// The types of values; `nil` for memory.
    private var types: [String: CallType?] = [:]

    init(_ program: CallProgram) {
        read(program.steps)
    }

    private mutating func read(_ steps: [CallStep]) {
        for step in steps {
            var result: CallType?
            switch step.action {
            case .invoke(let invocation):
                result = invocation.returnedStruct == nil ? invocation.returns : nil
                for argument in invocation.arguments {
                    switch argument {
                    case .out(let type, let name), .reference(let type, let name, _):
                        types[name] = .some(type)
                    case .buffer(_, let name), .file(_, let name): types[name] = .some(nil)
                    default: break
                    }
                }
            case .map(_, let name), .read(_, let name): types[name] = .some(nil)
            case .get(let field): result = field.type
            case .loop(let loop): read(loop.steps)
            case .save, .set: break
            }
            if let name = step.result { types[name] = .some(result) }
        }
    }

    /// What an argument passes.
    func passed(_ argument: CallArgument) -> PassedType {
        switch argument {
        case .literal(let type, _): type == .string ? .text : .value(type)
        case .null: .null
        case .use(let name): (types[name] ?? nil).map { .value($0) } ?? .memory(nil)
        case .out(let type, _), .reference(let type, _, _): .address(type)
        case .buffer(.literal(.integer(let size)), _): .memory(Int(size))
        case .buffer, .file: .memory(nil)
        case .sizeOf: .value(.size)
        case .callback(let name): .callback(name)
        case .converted(let type, _): .value(type)
        case .field(let field): .value(field.type)
        case .list: .list
        case .structure(let members, _): .structure(members)
        }
    }
}
