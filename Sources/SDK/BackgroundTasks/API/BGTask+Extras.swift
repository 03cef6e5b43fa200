public import Foundation

/// Why a launch must end.
///
/// The value is one of the host's words for reasons. This is not an enumeration, because newer hosts add
/// words.
public struct BGTaskExpirationReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word, as the host sends it.
    public let rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The same as ``rawValue``.
    public var description: String { rawValue }

    /// The launch used all of its run time.
    public static let leaseEnded = Self(rawValue: "leaseEnded")
    /// The launch used too much CPU time.
    public static let cpuLimit = Self(rawValue: "cpuLimit")
    /// The launch used too much memory.
    public static let memoryLimit = Self(rawValue: "memoryLimit")
    /// The directories of the bundle occupy too much space.
    public static let storageLimit = Self(rawValue: "storageLimit")
    /// External power was disconnected, and the request requires it.
    public static let externalPowerLost = Self(rawValue: "externalPowerLost")
    /// The network is not available any more, and the request requires it.
    public static let networkLost = Self(rawValue: "networkLost")
    /// The network is metered or in low-data mode now, and the request requires an unmetered one.
    public static let networkMetered = Self(rawValue: "networkMetered")
    /// The user became active again.
    public static let userReturned = Self(rawValue: "userReturned")
    /// The battery is nearly empty.
    public static let lowBattery = Self(rawValue: "lowBattery")
    /// Low-power mode is on.
    public static let lowPowerMode = Self(rawValue: "lowPowerMode")
    /// The machine is too hot.
    public static let thermal = Self(rawValue: "thermal")
    /// The task did not report progress for too long.
    public static let noProgress = Self(rawValue: "noProgress")
    /// The machine is short of CPU time, memory or I/O.
    public static let pressure = Self(rawValue: "pressure")
    /// The user cancelled the launch.
    public static let cancelledByUser = Self(rawValue: "cancelledByUser")
    /// The machine is about to sleep.
    public static let systemSleep = Self(rawValue: "systemSleep")
    /// The host is stopping.
    public static let hostShutdown = Self(rawValue: "hostShutdown")
    /// A user paused the bundle or the host.
    public static let paused = Self(rawValue: "paused")
    /// A user ran `bgtask expire`.
    public static let simulated = Self(rawValue: "simulated")
}

/// Members that Apple's API does not have.
extension BGTask {
    /// Why the launch must end; `nil` while it is not expiring.
    public var expirationReason: BGTaskExpirationReason? {
        running.expiration.map { BGTaskExpirationReason(rawValue: $0.reason) }
    }

    /// The time until which the handler may run.
    ///
    /// This is the end of the lease that was granted at the start. Once the launch is expiring, it is the
    /// time at which the host kills the process. The host may extend the lease on external power, and may end
    /// the launch earlier when conditions change. So use the deadline only for planning, and set an
    /// ``expirationHandler``. `nil` means that run time is not limited.
    public var deadline: Date? { running.deadline }

    /// When a launch of this identifier last succeeded; `nil` if none ever did.
    ///
    /// Use it to decide what is left to fetch. In an app that runs its own handlers as a client, it is always
    /// `nil`.
    public var lastSuccess: Date? { running.facts.lastSuccess }

    /// Data for the next attempt of the same request: at first what the previous attempt saved, then what
    /// this one sets.
    ///
    /// At most 48 KiB. A larger value is refused with an error in the log, and the previous one is kept.
    /// `nil` deletes it.
    public var checkpoint: Data? {
        get { running.checkpoint }
        set { running.checkpoint = newValue }
    }

    /// The JSON object that was submitted with the request; `nil` if there is none.
    public var payload: Data? { running.facts.payload }

    /// Ends an expiring launch without completing the task, so that the host puts the same request back.
    ///
    /// The next attempt finds the last ``checkpoint``. Call this at the end of the expiration handler,
    /// because the process ends soon afterwards. Before the launch is expiring, a call only writes an error
    /// into the log; after the task has completed, it has no effect. The host does not put back a request
    /// that the user cancelled. In an app that runs its own handlers as a client, the call completes the task
    /// without success.
    public func endUnfinished() { running.endUnfinished() }

    /// The number of the attempt: 1 for the first launch of a request, and 1 more each time the host puts it
    /// back.
    public var attempt: Int { running.facts.attempt }
}
