/// A `call:` of a manifest: C functions of installed libraries, called in order (grammar:
/// Documentation/Call.md).
///
/// Texts may hold `${payload.KEY}`, which the host fills in per launch before it encodes the program for the
/// runner.
public struct CallProgram: Equatable, Sendable, Codable {
    /// Where functions are looked up unless a step says otherwise: as the loader finds it, or an absolute
    /// path.
    public var library: String
    /// Functions that the libraries may call back, by name, in the file's order.
    public var callbacks: [CallCallback]
    /// What is done, in order.
    public var steps: [CallStep]
    /// Yields the library's own text for a failure; `nil` if there is none.
    public var message: CallInvocation?
    /// Called when the launch expires, on the control thread; `nil` if there is nothing to call.
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

    /// Every call of the program: of its steps, its message and its expiration.
    public var invocations: [CallInvocation] {
        let ofSteps = steps.compactMap { step in
            if case .invoke(let invocation) = step.action { invocation } else { nil }
        }
        return ofSteps + [message, onExpiration].compactMap(\.self)
    }

    /// The same program with other libraries.
    ///
    /// - Parameter replacement: Gives for each library's name the one to use.
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

    /// What it does.
    public var action: Action
    /// The name that the result gets; `nil` if it gets none.
    public var result: String?
    /// What the result must be; `nil` takes any.
    public var expect: CallExpectation?
    /// Whether `errno` is read right after the call, for the failure's text.
    public var readsErrno: Bool
    /// Names that are dead after this step.
    public var ends: [String]
    /// Whether it runs after a failure or an expiration too.
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

/// A file that is written whole or not at all: temporary file, fsync, rename.
public struct CallSave: Equatable, Sendable, Codable {
    /// The name of a buffer, a mapped file or a pointer.
    public var from: String
    /// How many bytes.
    public var length: CallSource
    /// Where to; may hold `${payload.KEY}`.
    public var to: String

    public init(from: String, length: CallSource, to: String) {
        self.from = from
        self.length = length
        self.to = to
    }
}

/// What a step's result must be.
public enum CallExpectation: Equatable, Sendable, Codable {
    /// One of these.
    case anyOf([CallLiteral])
    /// Anything but this.
    case not(CallLiteral)
    /// This number or more.
    case atLeast(CallLiteral)
}

/// A function that a library may call back.
public struct CallCallback: Equatable, Sendable, Codable {
    /// Its name in the manifest.
    public var name: String
    /// What it returns.
    public var returns: CallType
    /// What it is called with.
    public var parameters: [CallType]
    /// Whether each call is a tick of indeterminate progress.
    public var counts: Bool
    /// Which parameter, from 1, says how many units are done; `nil` if none does.
    public var completed: Int?
    /// Which parameter, from 1, says how many there are; `nil` if none does.
    public var total: Int?
    /// What to return before expiration.
    public var proceed: CallLiteral
    /// What to return after it.
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
