import ControlWire
import Hummingbird
import HummingbirdCore
public import LinuxSystem
public import Logging
import NIOCore
public import ServiceLifecycle
public import TaskModel

/// The control channel: HTTP and JSON on a Unix socket (Documentation/ControlAPI.md).
///
/// A service: `run()` serves until graceful shutdown or cancellation, then removes the socket's file. The
/// kernel's credentials decide about every peer: the host's own user and root may do everything, other users
/// nothing.
public struct ControlServer: Service {
    /// The share of the host that one client, or all of them, may take.
    public struct Limits: Sendable {
        /// Connections at once; more wait in the socket's queue.
        public var connections = 128
        /// Bytes of one request's body.
        public var bodyLength = ControlProtocol.maximumBodyLength
        /// Seconds for a request to arrive in full.
        public var requestSeconds: Int64 = 10
        /// Seconds that a connection may be silent between requests.
        public var idleSeconds: Int64 = 60
        /// Events that wait for a client that is slow; one more ends its stream.
        public var waitingEvents = 4096

        /// Standard limits, all of them ours: far above what a person and some scripts need.
        public init() {}
    }

    private let host: any HostControl
    private let file: ControlSocketFile
    private let limits: Limits
    private let logger: Logger
    private let owner: UInt32
    private let moments: any MomentSource
    private let onServing: @Sendable () async -> Void

    /// Creates a server; nothing is touched before `run()`.
    ///
    /// - Parameters:
    ///   - host: What is controlled.
    ///   - socketPath: Where clients look; absolute.
    ///   - limits: What clients may take.
    ///   - logger: Gets the server's own lines.
    ///   - moments: The clock of the `Date` header.
    ///   - onServing: Called once the socket is there and accepts connections.
    /// - Throws: ``SocketFileError`` if no socket can have that path.
    public init(
        host: any HostControl, socketPath: String, limits: Limits = Limits(), logger: Logger,
        moments: any MomentSource = SystemClocks(),
        onServing: @escaping @Sendable () async -> Void = {}
    ) throws(SocketFileError) {
        self.host = host
        file = try ControlSocketFile(path: socketPath)
        self.limits = limits
        self.logger = logger
        self.moments = moments
        self.onServing = onServing
        owner = PeerCredentials.ownUser
    }

    /// Serves until graceful shutdown.
    ///
    /// - Throws: ``SocketFileError`` if the place is not safe, or another host serves there.
    public func run() async throws {
        try file.prepareDirectory()
        if try file.isServed() {
            throw SocketFileError(
                path: file.path, finding: "another host answers there",
                remedy: "Stop it, or start this one with another --socket")
        }
        let publication = Publication()
        let loop = ControlLoop()
        var http = HTTP1Channel.Configuration(idleTimeout: .seconds(limits.idleSeconds))
        http.httpDecoder.maxHeaderListSize = 16 << 10
        http.httpDecoder.maxHeaderFieldSize = 8 << 10
        http.httpDecoder.maxHeaderFieldCount = 64
        // The library's server without its application, which would wake once a second to know the date.
        let server = try HTTPServerBuilder.http1(configuration: http).buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: file.temporaryPath),
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: quiet)),
            eventLoopGroup: loop.group, logger: quiet,
            responder: responder(),
            onServerRunning: { [file, logger, onServing] channel in
                do throws(SystemCallError) {
                    try file.publish()
                    await onServing()
                } catch {
                    logger.error(
                        "The control socket could not be put in place", metadata: ["error": "\(error)"])
                    publication.fail(error)
                    channel.close(promise: nil)
                }
            })
        defer { file.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await withTaskExecutorPreference(loop) { try await server.run() } }
            group.addTask {
                // Answers and streams get this long to reach their clients; one that does not read must not
                // keep the process.
                try await gracefulShutdown()
                await loop.pause(.seconds(2))
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        try publication.check()
    }

    /// Answers one request on its connection.
    private func responder() -> HTTPChannelHandler.Responder {
        let (router, date) = (router().buildResponder(), DateHeader())
        let (logger, moments) = (quiet, moments)
        return { request, writer, channel in
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            var response: Response
            do {
                response = try await router.respond(to: request, context: ControlContext(source: source))
            } catch {
                // The middleware answers every error but a cancellation.
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = date.text(at: moments.now().wall)
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch {
                // Not the error itself: the library answers one of its parser with a second response.
                throw ResponseError.notWritten
            }
        }
    }

    /// Why a response could not be written.
    private enum ResponseError: Error {
        /// The client is gone, or its request turned out to be malformed in the middle of the response.
        case notWritten
    }

    private func router() -> Router<ControlContext> {
        let router = Router(context: ControlContext.self)
        router.add(middleware: ErrorMiddleware(logger: logger))
        router.add(middleware: PeerMiddleware(owner: owner, logger: logger))
        let routes = RouteTable(group: router.group(RouterPath(ControlProtocol.pathPrefix)))
        RequestRoutes(host: host, limits: limits).add(to: routes)
        LaunchRoutes(host: host, limits: limits).add(to: routes)
        HostRoutes(host: host, limits: limits).add(to: routes)
        BundleRoutes(host: host, limits: limits).add(to: routes)
        StreamRoutes(host: host, limits: limits, events: EventFeed(of: host)).add(to: routes)
        ClientRoutes(host: host, limits: limits).add(to: routes)
        return router
    }

    /// The HTTP library's own lines help only to find its faults.
    private var quiet: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}
