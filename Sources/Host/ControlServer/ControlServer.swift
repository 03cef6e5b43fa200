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
/// `run()` serves until a graceful shutdown or a cancellation, and then removes the socket's file. The kernel
/// reports the user of every connected process: the host's own user and root may use every route, and other
/// users none.
public struct ControlServer: Service {
    /// How much of the host's resources clients may use.
    public struct Limits: Sendable {
        /// The greatest number of connections at the same time; further ones wait in the socket's queue.
        public var connections = 128
        /// The greatest length of a request's body, in bytes.
        public var bodyLength = ControlProtocol.maximumBodyLength
        /// The longest time for a request to arrive completely, in seconds.
        public var requestSeconds: Int64 = 10
        /// The longest time without a request on an open connection, in seconds.
        public var idleSeconds: Int64 = 60
        /// The greatest number of events that wait for a slow client; one more ends the client's stream.
        public var waitingEvents = 4096

        /// The standard limits.
        ///
        /// All numbers are our choice: far above what one person with a few scripts needs.
        public init() {}
    }

    private let host: any HostControl
    private let file: ControlSocketFile
    private let limits: Limits
    private let logger: Logger
    private let owner: UInt32
    private let moments: any MomentSource
    private let onServing: @Sendable () async -> Void

    /// Creates a server; nothing happens before `run()`.
    ///
    /// - Parameters:
    ///   - host: The host that clients control.
    ///   - socketPath: The absolute path of the socket.
    ///   - limits: The limits for clients.
    ///   - logger: Gets the log lines of the server itself.
    ///   - moments: The source of the time in the `Date` header.
    ///   - onServing: Called once, when the socket accepts connections.
    /// - Throws: ``SocketFileError`` if the path can't be that of a socket.
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

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``SocketFileError`` if other users could replace the socket, or if another host serves it.
    public func run() async throws {
        try file.prepareDirectory()
        if try file.isServed() {
            throw SocketFileError(
                path: file.path, finding: "another host answers there",
                remedy: "Stop that host, or set 'paths.socket' (--socket) of this one to another path")
        }
        let publication = Publication()
        let loop = ControlLoop()
        var http = HTTP1Channel.Configuration(idleTimeout: .seconds(limits.idleSeconds))
        http.httpDecoder.maxHeaderListSize = 16 << 10
        http.httpDecoder.maxHeaderFieldSize = 8 << 10
        http.httpDecoder.maxHeaderFieldCount = 64
        // This is Hummingbird's server without its `Application`, which wakes up once a second to update the
        // date.
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
                    logger.error("the control socket could not be created: \(error)")
                    publication.fail(error)
                    channel.close(promise: nil)
                }
            })
        defer { file.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await withTaskExecutorPreference(loop) { try await server.run() } }
            group.addTask {
                // Answers and streams that are under way have 2 s to reach their clients. A client that does
                // not read must not keep the process alive for longer.
                try await gracefulShutdown()
                await loop.pause(.seconds(2))
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        try publication.check()
    }

    /// Returns the closure that answers the requests of all connections.
    private func responder() -> HTTPChannelHandler.Responder {
        let (router, date) = (router().buildResponder(), DateHeader())
        let (logger, moments) = (quiet, moments)
        return { request, writer, channel in
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            var response: Response
            do {
                response = try await router.respond(to: request, context: ControlContext(source: source))
            } catch {
                // The middleware answers every other error, so this one is a cancellation.
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = date.text(at: moments.now().wall)
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch {
                // The original error is not thrown, because the library would answer an error of its parser
                // with a second response.
                throw ResponseError.notWritten
            }
        }
    }

    /// Why a response could not be written.
    private enum ResponseError: Error {
        /// The client is gone, or the rest of its request proved malformed while the response was being
        /// written.
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

    /// A logger for the HTTP library without its information lines, which only help to debug the library
    /// itself.
    private var quiet: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}
