/// One step of a program.
public struct CallStep: Equatable, Sendable, Codable {
    /// What a step does.
    public enum Action: Equatable, Sendable, Codable {
        /// Calls a function.
        case invoke(CallInvocation)
        /// Writes a file.
        case save(CallSave)
        /// Maps a file, read-only: its path, and the name of its contents.
        case map(String, name: String)
        /// Reads a file into memory, with a NUL byte behind it: its path, and the name of its contents.
        case read(String, name: String)
        /// Reads a member of a struct.
        case get(CallField)
        /// Writes a member of a struct.
        case set(CallField, CallSource)
        /// Runs steps again and again.
        case loop(CallLoop)
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

    /// The calls of this step, or of the steps of its loop.
    var invocations: [CallInvocation] {
        switch action {
        case .invoke(let invocation): [invocation]
        case .loop(let loop): loop.steps.flatMap(\.invocations)
        case .save, .map, .read, .get, .set: []
        }
    }

    /// The number of steps: 1, or for a loop one more than it has.
    public var count: Int {
        if case .loop(let loop) = action { loop.steps.reduce(1) { $0 + $1.count } } else { 1 }
    }

    /// Replaces the calls of this step, or of the steps of its loop.
    func replacingInvocations(_ replaced: (CallInvocation) -> CallInvocation) -> CallStep {
        var step = self
        switch action {
        case .invoke(let invocation): step.action = .invoke(replaced(invocation))
        case .loop(var loop):
            loop.steps = loop.steps.map { $0.replacingInvocations(replaced) }
            step.action = .loop(loop)
        case .save, .map, .read, .get, .set: break
        }
        return step
    }
}

/// Steps that are repeated while a value fulfills a condition.
public struct CallLoop: Equatable, Sendable, Codable {
    /// The name whose value is checked: before the first round if it has a value then, and after each step
    /// that gives it one.
    public var name: String
    /// What the value must be for the loop to continue.
    public var condition: CallExpectation
    /// The greatest number of rounds; the loop fails when it is used up and the condition still holds.
    public var atMost: Int
    /// The steps, in order; none is a loop.
    public var steps: [CallStep]

    public init(name: String, condition: CallExpectation, atMost: Int, steps: [CallStep]) {
        self.name = name
        self.condition = condition
        self.atMost = atMost
        self.steps = steps
    }
}

/// A file that is written completely or not at all, with a temporary file, `fsync` and `rename`.
public struct CallSave: Equatable, Sendable, Codable {
    /// The name of the buffer, mapped file or pointer to write.
    public var from: String
    /// The number of bytes to write; `nil` writes the text up to its NUL byte.
    public var length: CallSource?
    /// The path of the file; may contain `${payload.KEY}`.
    public var to: String

    public init(from: String, length: CallSource?, to: String) {
        self.from = from
        self.length = length
        self.to = to
    }
}
