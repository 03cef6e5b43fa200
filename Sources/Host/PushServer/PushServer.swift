public import LinuxSystem
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import Pushes
public import ServiceLifecycle
public import TaskModel

/// The listener for pushes from the network: signed webhooks (Documentation/Pushes.md).
///
/// It has a thread of its own and shares nothing with the control channel. `run()` serves until a graceful
/// shutdown or a cancellation. If the address can't be used, it tries again each minute.
public struct PushServer: Service {
    /// How much of the host's resources senders may use.
    public struct Limits: Sendable {
        /// The greatest size of a request's head, in bytes.
        public static let headSize = 8 << 10

        /// The greatest number of connections at the same time.
        public var connections = 128
        /// The longest time from the connection to the end of the request, in seconds.
        public var requestSeconds: Int64 = 10
        /// How long a connection stays open for its sender to read the answer, in seconds.
        public var lingerSeconds: Int64 = 2
        /// How many pushes bundles get.
        public var rates: PushRates.Limits

        /// The standard limits with these rates; all numbers are our choice.
        public init(rates: PushRates.Limits) { self.rates = rates }
    }

    /// How long the store must keep a push to recognize that it is sent again: twice the window for the time
    /// of its signature.
    public static let memory = SignedPush.window * 2

    private let address: ListenAddress
    private let certificates: CertificateFiles?
    private let desk: PushDesk
    private let logger: Logger

    /// Creates a server; nothing happens before `run()`.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - certificate: The paths of the chain of certificates and of its key, as PEM; `nil` for no TLS.
    ///   - limits: The limits for senders.
    ///   - secrets: The secrets of bundles.
    ///   - receiver: The host.
    ///   - logger: Gets the log lines of the server.
    ///   - moments: The clocks.
    public init(
        address: ListenAddress, certificate: (chain: String, key: String)?, limits: Limits,
        secrets: PushSecretFiles, receiver: any PushReceiver, logger: Logger,
        moments: any MomentSource = SystemClocks()
    ) {
        self.address = address
        certificates = certificate.map {
            CertificateFiles(
                certificate: $0.chain, key: $0.key, logger: logger, moments: moments)
        }
        desk = PushDesk(
            limits: limits, secrets: secrets, receiver: receiver, logger: logger, moments: moments)
        self.logger = logger
    }

    /// Serves until a graceful shutdown.
    public func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = await cancelWhenGracefulShutdown { await listen(on: group) }
        if let channel {
            try? await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await channel.closeFuture.get()
                } onGracefulShutdown: {
                    channel.close(promise: nil)
                }
            } onCancel: {
                channel.close(promise: nil)
            }
        }
        try? await group.shutdownGracefully()
    }

    /// Listens at the address; tries again until it can, or returns `nil` if the Swift task is cancelled.
    private func listen(on group: MultiThreadedEventLoopGroup) async -> (any Channel)? {
        var isKnown = false
        while !Task.isCancelled {
            do {
                _ = try certificates?.context()
                let channel = try await bootstrap(group).bind(host: address.host, port: address.port).get()
                desk.receiver.listenerChanged(nil)
                logger.notice("listening for pushes at \(address)\(certificates == nil ? "" : ", with TLS")")
                return channel
            } catch {
                let problem = ListenProblem(address, error)
                desk.receiver.listenerChanged(
                    ManifestProblem(
                        file: "pushes.listen", finding: problem.finding, remedy: problem.remedy))
                if !isKnown { logger.error("\(problem.finding). \(problem.remedy)") }
                isKnown = true
                let timer = group.next().scheduleTask(in: .seconds(60)) {}
                await withTaskCancellationHandler {
                    try? await timer.futureResult.get()
                } onCancel: {
                    timer.cancel()
                }
            }
        }
        return nil
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        let (desk, certificates, logger) = (desk, certificates, logger)
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let certificates {
                        do {
                            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.context()))
                        } catch {
                            logger.error("the certificate for pushes can't be used: \(error)")
                            throw error
                        }
                    }
                    var limits = NIOHTTPDecoderLimitConfiguration()
                    limits.maxHeaderListSize = Limits.headSize
                    limits.maxHeaderFieldSize = Limits.headSize / 2
                    limits.maxHeaderFieldCount = 64
                    try pipeline.addHandler(HTTPResponseEncoder())
                    try pipeline.addHandler(
                        ByteToMessageHandler(
                            HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits))
                    )
                    try pipeline.addHandler(PushConnection(desk))
                }
            }
    }
}
