public import Foundation

/// Why a launch must end.
///
/// One of the words of the host's vocabulary; new words appear, so this is no enum.
public struct BGTaskExpirationReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The host's word.
    public let rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word.
    public var description: String { rawValue }

    /// The run time is used up.
    public static let leaseEnded = Self(rawValue: "leaseEnded")
    /// Too much CPU time.
    public static let cpuLimit = Self(rawValue: "cpuLimit")
    /// Too much memory.
    public static let memoryLimit = Self(rawValue: "memoryLimit")
    /// The plug was pulled, and the request requires external power.
    public static let externalPowerLost = Self(rawValue: "externalPowerLost")
    /// The network is gone, and the request requires it.
    public static let networkLost = Self(rawValue: "networkLost")
    /// A user uses the device again.
    public static let userReturned = Self(rawValue: "userReturned")
    /// The battery is nearly empty.
    public static let lowBattery = Self(rawValue: "lowBattery")
    /// Low-power mode is on.
    public static let lowPowerMode = Self(rawValue: "lowPowerMode")
    /// The machine is too hot.
    public static let thermal = Self(rawValue: "thermal")
    /// No progress was reported for too long.
    public static let noProgress = Self(rawValue: "noProgress")
    /// The machine is short of CPU time, memory or I/O.
    public static let pressure = Self(rawValue: "pressure")
    /// The user cancelled it.
    public static let cancelledByUser = Self(rawValue: "cancelledByUser")
    /// The machine goes to sleep.
    public static let systemSleep = Self(rawValue: "systemSleep")
    /// The host stops.
    public static let hostShutdown = Self(rawValue: "hostShutdown")
    /// A user ran `bgtask expire`.
    public static let simulated = Self(rawValue: "simulated")
}

/// What Apple's API leaves out and this host tells.
extension BGTask {
    /// Why the launch expires; `nil` while it does not.
    public var expirationReason: BGTaskExpirationReason? {
        running.expiration.map { BGTaskExpirationReason(rawValue: $0.reason) }
    }

    /// Until when the handler may run: the end of its lease, and once it expires, the moment at which
    /// everything is killed.
    ///
    /// `nil` where the launch has no end. Power renews leases and conditions shorten them: plan with it, obey
    /// expiration.
    public var deadline: Date? { running.deadline }

    /// What an attempt hands to the next one: what the last attempt saved, then what this one has.
    ///
    /// At most 48 KiB; a larger one is refused with a line in the log, and the one before stays. `nil`
    /// forgets it.
    public var checkpoint: Data? {
        get { running.checkpoint }
        set { running.checkpoint = newValue }
    }

    /// The JSON object that the request was submitted with; `nil` if none.
    public var payload: Data? { running.facts.payload }

    /// Ends an expiring launch without completing it: the host puts the same request back, and its next
    /// attempt finds the last ``checkpoint``.
    ///
    /// Call it once the expiration handler has put everything down: the process ends soon after. Before the
    /// launch expires it does nothing but write a line into the log; after the task has completed it does
    /// nothing. The host does not put back what the user has cancelled. In an app that is a client it
    /// completes the task without success.
    public func endUnfinished() { running.endUnfinished() }

    /// 1 for the first launch of a request, and one more each time that the host has put it back.
    public var attempt: Int { running.facts.attempt }
}
