/// The state of a launch's expiration: its handler, whether the launch is expiring, and whether it is over.
///
/// Every channel of a launch follows these rules. The struct has no lock: the holder guards it, and calls
/// what the methods return outside its own lock.
package struct ExpirationSlot: Sendable {
    /// A closure that is called once, when the launch expires.
    package typealias Handler = @Sendable (Expiration) -> Void

    private var handler: Handler?
    /// The expiration; `nil` while the launch does not expire.
    package private(set) var expiration: Expiration?
    /// Whether the launch is over, so that no handler is called any more.
    package private(set) var isOver = false

    package init() {}

    /// Whether a handler is set, or will not be needed any more.
    package var isSettled: Bool { handler != nil || expiration != nil || isOver }

    /// What the holder must do when the launch expires.
    package enum Answer {
        /// Call this handler.
        case call(Handler)
        /// End the launch, because no handler is set.
        case end
        /// Nothing, because the launch was already expiring or is over.
        case nothing
    }

    /// Sets, replaces or removes the handler.
    ///
    /// - Returns: If the launch is already expiring, the expiration with which the holder must call the
    ///   handler immediately; otherwise `nil`.
    package mutating func set(_ handler: Handler?) -> Expiration? {
        guard !isOver else { return nil }
        if handler != nil, let expiration { return expiration }
        self.handler = handler
        return nil
    }

    /// Records that the launch must end.
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
