public import LinuxSystem
public import Logging
public import Pushes
public import ServiceLifecycle
public import TaskModel

/// What a connector of UnifiedPush needs from the host.
public protocol PushConnectorHost: Sendable {
    /// Calls a function now and after each change with the bundles that have a task of the kind `push`.
    ///
    /// - Returns: A function that ends it.
    func followBundles(_ changed: @escaping @Sendable (Set<BundleIdentifier>) -> Void) async
        -> @Sendable () -> Void

    /// The request that an earlier push with a key led to; `nil` if there is none.
    func earlier(to bundle: BundleIdentifier, key: String) async throws(SubmissionError) -> TaskRequest?

    /// Delivers a push, which is durable when the function returns.
    func receive(
        to bundle: BundleIdentifier, payload: String, priority: PushPriority, key: String?
    ) async throws(SubmissionError) -> (request: TaskRequest, isRepeat: Bool)
}

/// The host as a connector of UnifiedPush on the session bus (Documentation/Pushes.md).
///
/// `run()` registers the bundles with a task of the kind `push`, and receives messages for them, until a
/// graceful shutdown.
public struct PushConnector: Service {
    /// The name of the host on the bus.
    public static let busName = "org.bgtask.Pushes"

    private let host: any PushConnectorHost
    private let desk: ConnectorDesk
    private let address: String
    private let logger: Logger

    /// Creates a connector; nothing happens before `run()`.
    ///
    /// - Parameters:
    ///   - choice: The distributor to use.
    ///   - stateDirectory: The directory of the file with the registrations.
    ///   - rates: How many pushes bundles get.
    ///   - host: The host.
    ///   - address: The address of the session bus.
    ///   - logger: Gets the log lines.
    ///   - moments: The clocks.
    public init(
        choice: DistributorChoice, stateDirectory: String, rates: PushRates.Limits,
        host: any PushConnectorHost, address: String, logger: Logger,
        moments: any MomentSource = SystemClocks()
    ) {
        (self.host, self.address, self.logger) = (host, address, logger)
        desk = ConnectorDesk(
            choice: choice, file: RegistrationFile(directory: stateDirectory), rates: rates, host: host,
            logger: logger, moments: moments)
    }

    /// Serves until a graceful shutdown.
    public func run() async throws {
        guard SystemBus.isAvailable else {
            logger.error(
                "pushes.distributor has no effect: libsystemd, which connects to the session bus, is missing")
            return try await gracefulShutdown()
        }
        let stop = await host.followBundles { [desk] in desk.set(bundles: $0) }
        let bus = try BusService(
            address: address, name: Self.busName, watching: DistributorChoice.namespace, servant: desk)
        desk.join(bus)
        try? await gracefulShutdown()
        stop()
        bus.cancel()
    }
}
