public import Foundation

/// What Foundation has on Apple's systems and not on Linux: work that the process should live for.
extension ProcessInfo {
    /// What an activity asks of the system.
    ///
    /// Every one keeps a launched process alive after its task has completed, as an assertion; the other
    /// wishes are kept and have no effect here, where nothing sleeps behind a running launch's back.
    public struct ActivityOptions: OptionSet, Sendable {
        /// Apple's bits.
        public let rawValue: UInt64
        /// Wraps bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// The display stays on.
        public static let idleDisplaySleepDisabled = Self(rawValue: 1 << 40)
        /// The machine does not sleep for want of input.
        public static let idleSystemSleepDisabled = Self(rawValue: 1 << 20)
        /// The process is not ended for want of use.
        public static let suddenTerminationDisabled = Self(rawValue: 1 << 14)
        /// The process is not ended while it has no windows.
        public static let automaticTerminationDisabled = Self(rawValue: 1 << 15)
        /// What a user asked for.
        public static let userInitiated = Self(rawValue: 0x00FF_FFFF | idleSystemSleepDisabled.rawValue)
        /// What a user asked for, while the machine may sleep.
        public static let userInitiatedAllowingIdleSystemSleep = Self(
            rawValue: userInitiated.rawValue & ~idleSystemSleepDisabled.rawValue)
        /// Work that the user did not ask for.
        public static let background = Self(rawValue: 0x0000_00FF)
        /// What must not be late.
        public static let latencyCritical = Self(rawValue: 0xFF_0000_0000)
    }

    /// Begins an activity.
    ///
    /// - Parameters:
    ///   - options: What it asks for.
    ///   - reason: What reports call it.
    /// - Returns: What ``endActivity(_:)`` ends.
    public func beginActivity(options: ActivityOptions = [], reason: String) -> any NSObjectProtocol {
        ActivityToken(AssertionBook.shared.begin(reason, handler: nil))
    }

    /// Ends an activity; to end it twice does nothing.
    ///
    /// - Parameter activity: What ``beginActivity(options:reason:)`` gave.
    public func endActivity(_ activity: any NSObjectProtocol) {
        (activity as? ActivityToken)?.end()
    }

    /// Runs a block as an activity.
    ///
    /// - Parameters:
    ///   - options: What it asks for.
    ///   - reason: What reports call it.
    ///   - block: Runs before this returns.
    public func performActivity(options: ActivityOptions = [], reason: String, using block: () -> Void) {
        let activity = beginActivity(options: options, reason: reason)
        block()
        endActivity(activity)
    }

    /// Runs a block that the process stays alive for, and tells it when its time is up.
    ///
    /// - Parameters:
    ///   - reason: What reports call it.
    ///   - block: Called with `false` on a queue in the background; once more, beside the first call, with
    ///     `true` when the time is nearly up, to make the first one return; alone with `true` where no time
    ///     is left to begin with.
    public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {
        let queue = DispatchQueue.global(qos: .utility)
        let token = ActivityToken(0)
        let work = DispatchGroup()
        work.enter()
        let number = AssertionBook.shared.begin(reason) {
            queue.async {
                block(true)
                // The call that works on has been told to return, and has something to put down first.
                _ = work.wait(timeout: .now() + Self.timeToReturn)
                token.end()
            }
        }
        guard number != 0 || !App.shared.host.isLaunch else {
            queue.async { block(true) }
            return
        }
        token.set(number)
        queue.async {
            block(false)
            work.leave()
            token.end()
        }
    }

    /// Seconds that the first call of an expiring activity has to return in, once it was asked: part of the 5
    /// s that all expiration handlers have together.
    private static let timeToReturn: TimeInterval = 2
}
