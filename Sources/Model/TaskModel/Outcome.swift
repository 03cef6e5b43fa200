/// How a launch ended.
public enum Outcome: String, Sendable, Codable, CaseIterable, Hashable {
    /// The handler completed with `true`.
    case succeeded
    /// The handler completed with `false`, ended without completing, or could not be loaded.
    case failed
    /// The launch was asked to stop, and stopped in time.
    case expired
    /// The host killed the launch.
    case killed
    /// A signal that the host did not send ended the process.
    case crashed
    /// The host or the launcher died while the launch was running.
    case lost
    /// A user cancelled the launch, or its manifest was removed.
    case cancelled
}

/// Why a launch expired or ended: the same words in code, wire, API, command line and reports.
public enum Reason: String, Sendable, Codable, CaseIterable, Hashable {
    // MARK: Reasons that an expiration gives
    /// The lease ran out.
    case leaseEnded
    /// The launch used its quota of CPU time.
    case cpuLimit
    /// The launch reached its memory limit.
    case memoryLimit
    /// The directories of the launch's bundle reached its storage limit.
    case storageLimit
    /// The launch requires external power, which is not connected any more.
    case externalPowerLost
    /// The launch requires a network, which is not available any more.
    case networkLost
    /// The launch requires an unmetered network, and the network is metered or in low-data mode now.
    case networkMetered
    /// The user became active again.
    case userReturned
    /// The launch requires a condition of `conditions.d` that is not on any more, or the expression in `when`
    /// is not true any more.
    case conditionLost
    /// The part of the day in which the task may run has ended.
    case windowEnded
    /// The battery is nearly empty.
    case lowBattery
    /// Low-power mode is on.
    case lowPowerMode
    /// The machine is too hot.
    case thermal
    /// The launch made no progress for too long.
    case noProgress
    /// CPU, memory or I/O is under pressure.
    case pressure
    /// A user cancelled the launch or the request.
    case cancelledByUser
    /// The machine is about to sleep.
    case systemSleep
    /// The host is stopping.
    case hostShutdown
    /// The host died, so the task expired itself.
    case hostGone
    /// The launch's manifest or library was removed.
    case manifestRemoved
    /// A user paused the bundle or the host.
    case paused
    /// A user ran `bgtask expire`.
    case simulated

    // MARK: Reasons of an end
    /// The handler completed with `false`.
    case handlerFailed
    /// The process exited, or the handler returned, without completing.
    case exitedWithoutCompleting
    /// A signal ended the process, for example after a trap or an abort.
    case signal
    /// The library could not be loaded, or it has no entry function.
    case loadFailed
    /// The task violated the runner protocol.
    case protocolError
    /// The host died while the launch was running.
    case hostDied
    /// The launcher died while the launch was running.
    case launcherDied
    /// The kernel could not kill the launch's processes.
    case unkillable
    /// The host lacked descriptors, processes, memory or disk space to start the launch.
    case shortage
    /// The bundle's user or directories can't be prepared before an administrator changes the configuration
    /// or files.
    case unprepared
    /// The client that was to run the request disconnected, and no plugin can run it.
    case clientGone
    /// A newer request of the same identifier replaced this one while it was pending.
    case replaced
    /// This attempt and those before it brought neither a new checkpoint nor further progress, and the host
    /// does not try the request again.
    case attemptsWithoutProgress
    /// The request had not started by the deadline of its client.
    case deadlinePassed
    /// A request that had to succeed before this one ended without success.
    case predecessorFailed

    /// Whether a condition of the machine, or its user, stopped the launch, and may let it start again.
    public var isByCondition: Bool {
        switch self {
        case .externalPowerLost, .networkLost, .networkMetered, .userReturned, .conditionLost, .lowBattery,
            .lowPowerMode, .thermal:
            true
        default: false
        }
    }

    /// Whether the message *expire* to a task can contain this reason.
    public var isExpiration: Bool {
        switch self {
        case .leaseEnded, .cpuLimit, .memoryLimit, .storageLimit, .externalPowerLost, .networkLost,
            .networkMetered, .userReturned, .conditionLost, .windowEnded, .lowBattery, .lowPowerMode,
            .thermal, .noProgress, .pressure, .cancelledByUser, .systemSleep, .paused, .hostShutdown,
            .hostGone, .manifestRemoved, .simulated:
            true
        case .handlerFailed, .exitedWithoutCompleting, .signal, .loadFailed, .protocolError, .hostDied,
            .launcherDied, .unkillable, .shortage, .unprepared, .clientGone, .replaced,
            .attemptsWithoutProgress, .deadlinePassed, .predecessorFailed:
            false
        }
    }

    /// The outcome of a request that ends with this reason while it is pending.
    public var outcomeWhilePending: Outcome {
        self == .deadlinePassed || self == .predecessorFailed ? .failed : .cancelled
    }

    /// Whether the launch itself is the cause of the expiration, by what it used or failed to do.
    ///
    /// Another attempt would probably end in the same way. All other expirations come from people, or from
    /// conditions that hold the request until they have passed.
    public var isCausedByLaunch: Bool {
        switch self {
        case .leaseEnded, .cpuLimit, .memoryLimit, .storageLimit, .noProgress, .pressure: true
        default: false
        }
    }
}
