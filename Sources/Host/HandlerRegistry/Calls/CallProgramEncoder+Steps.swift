import TaskModel

/// Encodes the steps of a call.
extension CallProgramEncoder {
    /// The number of an action in the runner's format.
    private static func wireValue(_ action: CallStep.Action) -> Int {
        switch action {
        case .invoke: 1
        case .save: 2
        case .map: 3
        case .read: 4
        case .get: 5
        case .set: 6
        case .loop: 7
        }
    }

    /// Encodes a step; the steps of a loop follow it.
    mutating func write(_ step: CallStep, _ library: String) throws(SubmissionError) {
        byte(Self.wireValue(step.action))
        byte((step.always ? 1 : 0) | (step.readsErrno ? 2 : 0) | (step.result == nil ? 0 : 4))
        if let result = step.result { name(result) }
        switch step.action {
        case .invoke(let invocation): try write(step.expect, of: invocation.returns)
        case .get(let field): try write(step.expect, of: field.type)
        case .loop(let loop): try write(loop.condition, of: .int)
        case .save, .map, .read, .set: try write(nil, of: .void)
        }
        byte(step.ends.count)
        for end in step.ends { name(end) }
        switch step.action {
        case .invoke(let invocation): try write(invocation, library)
        case .save(let save):
            name(save.from)
            try source(save.length ?? .literal(.null), of: .size)
            try path(save.to, .write, "the path of a save")
        case .map(let path, let name), .read(let path, let name):
            self.name(name)
            try self.path(path, .read, "a file's path")
        case .get(let field): write(field)
        case .set(let field, let value):
            write(field)
            try source(value, of: field.type)
        case .loop(let loop):
            name(loop.name)
            number(loop.atMost, 4)
            byte(loop.steps.count)
            for step in loop.steps { try write(step, library) }
        }
    }

    /// Encodes a member of a struct.
    mutating func write(_ field: CallField) {
        name(field.of)
        number(field.offset, 4)
        byte(field.type.wireValue)
    }

    private mutating func write(
        _ expectation: CallExpectation?, of type: CallType
    ) throws(SubmissionError) {
        switch expectation {
        case nil: byte(0)
        case .anyOf(let literals):
            byte(1)
            byte(literals.count)
            for literal in literals { try value(literal, of: type) }
        case .not(let literal):
            byte(2)
            try value(literal, of: type)
        case .atLeast(let literal):
            byte(3)
            try value(literal, of: type)
        }
    }
}
