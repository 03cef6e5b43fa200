public import Foundation

/// Activities that keep the process alive, as in Foundation on Apple's systems; Foundation on Linux lacks
/// them.
extension ProcessInfo {
    /// What an activity requires of the system.
    ///
    /// Every activity is an assertion: it keeps a launched process alive after its task has completed. The
    /// options are stored but have no effect here, because the host does not let the machine sleep during a
    /// launch.
    public struct ActivityOptions: OptionSet, Sendable {
        /// The bits; they have Apple's values.
        public let rawValue: UInt64
        /// Wraps a set of bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// The display stays on.
        public static let idleDisplaySleepDisabled = Self(rawValue: 1 << 40)
        /// The machine does not sleep because of missing input.
        public static let idleSystemSleepDisabled = Self(rawValue: 1 << 20)
        /// The system does not end the process suddenly to save resources.
        public static let suddenTerminationDisabled = Self(rawValue: 1 << 14)
        /// The system does not end the process because it has no windows.
        public static let automaticTerminationDisabled = Self(rawValue: 1 << 15)
        /// The user requested the work.
        public static let userInitiated = Self(rawValue: 0x00FF_FFFF | idleSystemSleepDisabled.rawValue)
        /// The user requested the work, but the machine may sleep.
        public static let userInitiatedAllowingIdleSystemSleep = Self(
            rawValue: userInitiated.rawValue & ~idleSystemSleepDisabled.rawValue)
        /// The user did not request the work.
        public static let background = Self(rawValue: 0x0000_00FF)
        /// The work must not be delayed.
        public static let latencyCritical = Self(rawValue: 0xFF_0000_0000)
    }

    /// Begins an activity.
    ///
    /// - Parameters:
    ///   - options: What the activity requires; this has no effect here.
    ///   - reason: The name of the activity in reports.
    /// - Returns: A token for ``endActivity(_:)``.
    public func beginActivity(options: ActivityOptions = [], reason: String) -> any NSObjectProtocol {
        ActivityToken(AssertionBook.shared.begin(reason, handler: nil))
    }

    /// Ends an activity; to end it a second time has no effect.
    ///
    /// - Parameter activity: The token from ``beginActivity(options:reason:)``.
    public func endActivity(_ activity: any NSObjectProtocol) {
        (activity as? ActivityToken)?.end()
    }

    /// Runs a block as an activity.
    ///
    /// - Parameters:
    ///   - options: What the activity requires; this has no effect here.
    ///   - reason: The name of the activity in reports.
    ///   - block: Runs before this method returns.
    public func performActivity(options: ActivityOptions = [], reason: String, using block: () -> Void) {
        let activity = beginActivity(options: options, reason: reason)
        block()
        endActivity(activity)
    }

    /// Runs a block while an assertion keeps the process alive, and notifies the block when its time is
    /// nearly over.
    ///
    /// - Parameters:
    ///   - reason: The name of the assertion in reports.
    ///   - block: Called with `false` on a background queue. When its time is nearly over, it is called a
    ///     second time, with `true`, while the first call may still be running; the first call must then
    ///     return. If no time is left at the beginning, it is called only with `true`.
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
                // The first call was asked to return and may need some time to finish.
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

    /// The seconds that the block's first call has to return, after it was asked to: part of the 5 s that all
    /// expiration handlers share.
    private static let timeToReturn: TimeInterval = 2
}
