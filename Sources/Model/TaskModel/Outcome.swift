/// How a launch ended.
public enum Outcome: String, Sendable, Codable, CaseIterable, Hashable {
    /// The handler completed with `true`.
    case succeeded
    /// The handler completed with `false`, ended without completing, or could not be loaded.
    case failed
    /// It was asked to stop, and stopped in time.
    case expired
    /// The host killed it.
    case killed
    /// A signal ended it that the host did not send.
    case crashed
    /// The host or the launcher died under it.
    case lost
    /// It was cancelled.
    case cancelled
}

/// Why a launch expired or ended as it did: one vocabulary in code, wire, API, command line and reports.
public enum Reason: String, Sendable, Codable, CaseIterable, Hashable {
    // MARK: Reasons that an expiration gives
    /// The lease ran out.
    case leaseEnded
    /// The CPU monitor's quota is spent.
    case cpuLimit
    /// The memory limit was reached.
    case memoryLimit
    /// External power that it required is gone.
    case externalPowerLost
    /// The network that it required is gone.
    case networkLost
    /// The user came back to the device.
    case userReturned
    /// A condition of `conditions.d` that it required does not hold any more.
    case conditionLost
    /// The battery is nearly empty.
    case lowBattery
    /// Low-power mode is on.
    case lowPowerMode
    /// The machine is too hot.
    case thermal
    /// Progress stalled.
    case noProgress
    /// CPU, memory or I/O pressure.
    case pressure
    /// The user cancelled it.
    case cancelledByUser
    /// The machine goes to sleep.
    case systemSleep
    /// The host is stopping.
    case hostShutdown
    /// The host died; the task expires itself.
    case hostGone
    /// Its manifest or library was removed.
    case manifestRemoved
    /// `bgtask expire`.
    case simulated

    // MARK: Reasons of an end
    /// The handler completed with `false`.
    case handlerFailed
    /// It exited or returned without completing.
    case exitedWithoutCompleting
    /// A signal, trap or abort.
    case signal
    /// The library or its entry could not be loaded.
    case loadFailed
    /// A violation of the runner protocol.
    case protocolError
    /// The host died.
    case hostDied
    /// The launcher died.
    case launcherDied
    /// The kernel can't kill it.
    case unkillable
    /// The process that was to run it is gone, and no plugin can.
    case clientGone
    /// A newer request of the same identifier took its place while it was pending.
    case replaced

    /// Whether an expire frame may carry it.
    public var isExpiration: Bool {
        switch self {
        case .leaseEnded, .cpuLimit, .memoryLimit, .externalPowerLost, .networkLost, .userReturned,
            .conditionLost, .lowBattery, .lowPowerMode, .thermal, .noProgress, .pressure, .cancelledByUser,
            .systemSleep,
            .hostShutdown, .hostGone,
            .manifestRemoved, .simulated:
            true
        case .handlerFailed, .exitedWithoutCompleting, .signal, .loadFailed, .protocolError, .hostDied,
            .launcherDied, .unkillable, .clientGone, .replaced:
            false
        }
    }
}
