/// A `call:` of a manifest: C functions of installed libraries, called in order.
///
/// Documentation/Call.md describes the grammar.
///
/// Texts may contain `${payload.KEY}`, which stands for a value of the payload. For each launch, the host
/// puts the values in before it encodes the program for the runner.
public struct CallProgram: Equatable, Sendable, Codable {
    /// The library of each function whose step names no other one: a name for the loader to look up, or an
    /// absolute path.
    public var library: String
    /// Functions that the libraries may call back, in the order of the manifest.
    public var callbacks: [CallCallback]
    /// The steps, in order.
    public var steps: [CallStep]
    /// The call that returns the library's own text about a failure; `nil` if there is none.
    public var message: CallInvocation?
    /// The call made when the launch expires, on the control thread; `nil` if there is none.
    public var onExpiration: CallInvocation?

    public init(
        library: String, callbacks: [CallCallback] = [], steps: [CallStep] = [],
        message: CallInvocation? = nil,
        onExpiration: CallInvocation? = nil
    ) {
        self.library = library
        self.callbacks = callbacks
        self.steps = steps
        self.message = message
        self.onExpiration = onExpiration
    }

    /// Every call of the program: those of the steps, then ``message`` and ``onExpiration``.
    public var invocations: [CallInvocation] {
        let ofSteps = steps.compactMap { step in
            if case .invoke(let invocation) = step.action { invocation } else { nil }
        }
        return ofSteps + [message, onExpiration].compactMap(\.self)
    }

    /// Replaces the libraries of the program.
    ///
    /// - Parameter replacement: Returns the library to use in place of the given one.
    /// - Returns: The program with every library replaced.
    public func replacingLibraries(_ replacement: (String) -> String) -> CallProgram {
        func replaced(_ invocation: CallInvocation) -> CallInvocation {
            var invocation = invocation
            invocation.library = invocation.library.map(replacement)
            return invocation
        }
        var program = self
        program.library = replacement(library)
        for index in program.steps.indices {
            if case .invoke(let invocation) = steps[index].action {
                program.steps[index].action = .invoke(replaced(invocation))
            }
        }
        program.message = message.map(replaced)
        program.onExpiration = onExpiration.map(replaced)
        return program
    }
}

/// One step of a program.
public struct CallStep: Equatable, Sendable, Codable {
    /// What a step does.
    public enum Action: Equatable, Sendable, Codable {
        /// Calls a function.
        case invoke(CallInvocation)
        /// Writes a file.
        case save(CallSave)
    }

    /// What the step does.
    public var action: Action
    /// The name of the result for later steps; `nil` if the result has no name.
    public var result: String?
    /// What the result must be; `nil` accepts any result.
    public var expect: CallExpectation?
    /// Whether the runner reads `errno` right after the call, for the message about a failure.
    public var readsErrno: Bool
    /// Names that later steps cannot use.
    public var ends: [String]
    /// Whether the step also runs after a failure or an expiration.
    public var always: Bool

    public init(
        action: Action, result: String? = nil, expect: CallExpectation? = nil, readsErrno: Bool = false,
        ends: [String] = [], always: Bool = false
    ) {
        self.action = action
        self.result = result
        self.expect = expect
        self.readsErrno = readsErrno
        self.ends = ends
        self.always = always
    }
}

/// A file that is written completely or not at all, with a temporary file, `fsync` and `rename`.
public struct CallSave: Equatable, Sendable, Codable {
    /// The name of the buffer, mapped file or pointer to write.
    public var from: String
    /// The number of bytes to write.
    public var length: CallSource
    /// The path of the file; may contain `${payload.KEY}`.
    public var to: String

    public init(from: String, length: CallSource, to: String) {
        self.from = from
        self.length = length
        self.to = to
    }
}

/// What a step's result must be.
public enum CallExpectation: Equatable, Sendable, Codable {
    /// The result must equal one of these.
    case anyOf([CallLiteral])
    /// The result must differ from this.
    case not(CallLiteral)
    /// The result must be this number or greater.
    case atLeast(CallLiteral)
}

/// A function that a library may call back.
public struct CallCallback: Equatable, Sendable, Codable {
    /// The callback's name in the manifest.
    public var name: String
    /// The type of the return value.
    public var returns: CallType
    /// The types of the parameters.
    public var parameters: [CallType]
    /// Whether each call of the callback adds 1 to indeterminate progress.
    public var counts: Bool
    /// The parameter, counted from 1, that contains the completed units; `nil` if none does.
    public var completed: Int?
    /// The parameter, counted from 1, that contains the total units; `nil` if none does.
    public var total: Int?
    /// The return value before the launch expires.
    public var proceed: CallLiteral
    /// The return value after the launch has expired.
    public var stop: CallLiteral

    public init(
        name: String, returns: CallType, parameters: [CallType], counts: Bool, completed: Int?, total: Int?,
        proceed: CallLiteral, stop: CallLiteral
    ) {
        self.name = name
        self.returns = returns
        self.parameters = parameters
        self.counts = counts
        self.completed = completed
        self.total = total
        self.proceed = proceed
        self.stop = stop
    }
}
