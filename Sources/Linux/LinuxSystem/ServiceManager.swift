/// The service manager that started this process, such as systemd, if it wants to know the service's state.
///
/// This speaks the protocol of sd_notify(3): each message is a datagram with lines of the form `NAME=value`,
/// sent to the socket in `NOTIFY_SOCKET`. All functions can be called from any thread. None of them blocks or
/// fails, because a service must not depend on who watches it.
public struct ServiceManager: Sendable {
    /// A part of the service's state.
    public enum Notice: Equatable, Sendable {
        /// The service answers its clients; also the end of reloading.
        case ready
        /// The service reads its configuration again, since a time of the monotonic clock.
        case reloading(since: Duration)
        /// The service ends.
        case stopping
        /// A sentence about the service without line breaks, which `systemctl status` shows.
        case status(String)
        /// The service is alive; the manager restarts a service that does not say so in time.
        case alive
        /// The manager must wait at least this much longer for the service to end.
        case extendTimeout(Duration)

        /// The assignments of the protocol; each on its own line.
        var lines: [String] {
            switch self {
            case .ready: ["READY=1"]
            case .reloading(let time): ["RELOADING=1", "MONOTONIC_USEC=\(time.inMicroseconds)"]
            case .stopping: ["STOPPING=1"]
            case .status(let text): ["STATUS=\(text)"]
            case .alive: ["WATCHDOG=1"]
            case .extendTimeout(let time): ["EXTEND_TIMEOUT_USEC=\(time.inMicroseconds)"]
            }
        }
    }

    private let socket: DatagramSocket
    /// How often the service must say that it is alive; `nil` if the manager does not watch for that.
    public let watchdog: Duration?

    /// Finds the manager in the environment of this process.
    ///
    /// - Returns: The manager; `nil` without `NOTIFY_SOCKET`, or if its socket can't be reached.
    public static func ofThisProcess() -> ServiceManager? {
        ServiceManager(
            socket: ProcessFacts.environment("NOTIFY_SOCKET"),
            watchdog: ProcessFacts.environment("WATCHDOG_USEC"),
            watched: ProcessFacts.environment("WATCHDOG_PID"), own: ProcessFacts.number)
    }

    /// Connects to a manager.
    ///
    /// - Parameters:
    ///   - socket: The address: a path, or an abstract name after `@`.
    ///   - watchdog: The time between two signs of life, in microseconds.
    ///   - watched: The process that the watchdog is for; `nil` for any.
    ///   - own: The number of this process.
    init?(socket: String?, watchdog: String?, watched: String?, own: Int32) {
        guard let socket, let connection = DatagramSocket(address: socket) else { return nil }
        self.socket = connection
        let isWatched = watched.map { $0 == "\(own)" } ?? true
        self.watchdog =
            isWatched ? watchdog.flatMap(Int64.init).flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    /// Sends notices in one message; they are lost if the manager does not read.
    public func tell(_ notices: Notice...) { tell(notices) }

    /// Sends notices in one message; they are lost if the manager does not read.
    public func tell(_ notices: [Notice]) {
        socket.send(notices.flatMap(\.lines).joined(separator: "\n"))
    }
}

extension Duration {
    /// The whole microseconds of this duration.
    fileprivate var inMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
