/// What a launch is to do when it expires, and whether it does: the rules that every channel of a launch
/// keeps.
///
/// A value; its holder guards it. Transitions return what is to be called, outside of the holder's lock.
package struct ExpirationSlot: Sendable {
    /// What is called once.
    package typealias Handler = @Sendable (Expiration) -> Void

    private var handler: Handler?
    /// The expiration; `nil` while the launch does not expire.
    package private(set) var expiration: Expiration?
    /// Whether the launch is over: then nothing is called any more.
    package private(set) var isOver = false

    package init() {}

    /// Whether a handler listens, or nothing is waited for any more.
    package var isSettled: Bool { handler != nil || expiration != nil || isOver }

    /// What to do after a call to stop.
    package enum Answer {
        /// Call it.
        case call(Handler)
        /// No handler listens: end the launch.
        case end
        /// It was asked before, or is over.
        case nothing
    }

    /// Sets, replaces or clears the handler.
    ///
    /// - Returns: The expiration that it is to be called with at once, where it comes too late to wait for
    ///   it.
    package mutating func set(_ handler: Handler?) -> Expiration? {
        guard !isOver else { return nil }
        if handler != nil, let expiration { return expiration }
        self.handler = handler
        return nil
    }

    /// The launch must end.
    package mutating func expire(_ expiration: Expiration) -> Answer {
        guard !isOver, self.expiration == nil else { return .nothing }
        self.expiration = expiration
        defer { handler = nil }
        return handler.map(Answer.call) ?? .end
    }

    /// Marks the launch as over.
    ///
    /// - Returns: `false` if it already was.
    package mutating func finish() -> Bool {
        defer {
            isOver = true
            handler = nil
        }
        return !isOver
    }
}
