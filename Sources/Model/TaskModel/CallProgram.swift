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
    /// Where the text is if ``message`` returns the address of a struct: the offset of its `char *`; `nil` if
    /// it returns the text itself.
    public var messageOffset: Int?
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
        steps.flatMap(\.invocations) + [message, onExpiration].compactMap(\.self)
    }

    /// The number of steps, those of loops included.
    public var stepCount: Int { steps.reduce(0) { $0 + $1.count } }

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
        program.steps = steps.map { $0.replacingInvocations(replaced) }
        program.message = message.map(replaced)
        program.onExpiration = onExpiration.map(replaced)
        return program
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
