/// The weight of each policy's score in the weighted mean.
///
/// A policy that gives no score to a request does not count.
///
/// All weights are our choice. Apple's weights, as its logs show them, are 1 through 50; external power and
/// user activity have the largest.
public struct PolicyWeights: Equatable, Sendable, Codable {
    /// The weight of external power: 4.
    public var externalPower = 4.0
    /// The weight of the battery charge: 3.
    public var batteryLevel = 3.0
    /// The weight of the cost of the network, for tasks that need it: 4.
    public var network = 4.0
    /// The weight of the thermal state: 3.
    public var thermal = 3.0
    /// The weight of user activity: 5.
    public var deviceActivity = 5.0
    /// The weight of pressure on CPU, memory and disks: 1.
    public var pressure = 1.0
    /// The weight of low-power mode: 1.
    public var lowPowerMode = 1.0
    /// The weight of the hours in which the bundle is usually used: 5.
    public var usage = 5.0
    /// The weight of the bundle's conduct: 3.
    public var conduct = 3.0
    /// The weight of other launches that run at the same time: 2.
    public var coalescing = 2.0

    /// Creates the default weights.
    public init() {}
}

/// The scores of conditions that allow a start but are not the best.
///
/// Each score is 0 through 1. The best conditions have the score 1: external power, an idle device, an
/// unmetered network and a nominal temperature. The battery charge, the hours of use and the conduct of a
/// bundle need no number here, because their values are scores. All numbers are our choice: Apple publishes
/// its factors, but not their scores.
public struct PolicyScores: Equatable, Sendable, Codable {
    /// The score if external power is not connected, or that is unknown: 0.3.
    ///
    /// With the default weights, a refresh on a battery of 40 % starts at once on an idle device (0.71), and
    /// waits while the user is active and the charge is 30 % (0.56).
    public var externalPowerMissing = 0.3
    /// The score if the battery charge is unknown: 0.2.
    ///
    /// This is the score of the lowest charge at which deferrable requests start, 20 %.
    public var batteryUnknown = 0.2
    /// The score of a metered network: 0.3.
    ///
    /// The same as without external power: in both cases the launch uses something that costs the user.
    public var networkMetered = 0.3
    /// The score if the thermal state is `fair` or unknown: 0.5.
    ///
    /// Halfway between `serious`, which holds deferrable requests, and `nominal`.
    public var thermalFair = 0.5
    /// The score if a user is active, or that is unknown: 0.4.
    ///
    /// Below ``SchedulerSettings/scoreThreshold``, so that other conditions must be good for a request to
    /// start.
    public var userActive = 0.4
    /// The score if pressure on CPU, memory and disks is unknown: 0.5.
    ///
    /// Halfway between pressure, which holds deferrable requests, and no pressure.
    public var pressureUnknown = 0.5
    /// The score if low-power mode is unknown: 0.5.
    ///
    /// Halfway between on, which holds deferrable requests, and off.
    public var lowPowerModeUnknown = 0.5
    /// The score if no launch is under way: 0.5.
    ///
    /// Half of the score while a launch is under way.
    public var nothingRunning = 0.5

    /// Creates the default scores.
    public init() {}
}
