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
/// users those that ``ControlAccess`` gives them. Launches of the host may use none.
public struct ControlServer: Service {
    /// How much of the host's resources clients may use.
    public struct Limits: Sendable {
        /// The greatest number of connections at the same time.
        ///
        /// If there are so many, the next one replaces another one, which `ConnectionBook` chooses.
        public var connections = 256
        /// How many of the connections may follow events, the log or the calls of a client.
        public var followers = 128
        /// The greatest length of a request's body, in bytes.
        public var bodyLength = ControlProtocol.maximumBodyLength
        /// The longest time for the head of the first request to arrive, and for the body of any, in seconds.
        public var requestSeconds: Int64 = 10
        /// The longest time from an answer to the complete head of the next request, in seconds; also the
        /// time until a follower that has missed events, and does not read, loses its connection.
        public var idleSeconds: Int64 = 60
        /// After this time, in seconds, an answer that is not complete may lose its place to another client.
        public var answerSeconds: Int64 = 30
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
    private let access: ControlAccess
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
    ///   - access: The groups of users that have a part of the powers.
    ///   - logger: Gets the log lines of the server itself.
    ///   - moments: The source of the time in the `Date` header.
    ///   - onServing: Called once, when the socket accepts connections.
    /// - Throws: ``SocketFileError`` if the path can't be that of a socket.
    public init(
        host: any HostControl, socketPath: String, limits: Limits = Limits(),
        access: ControlAccess = ControlAccess(), logger: Logger,
        moments: any MomentSource = SystemClocks(),
        onServing: @escaping @Sendable () async -> Void = {}
    ) throws(SocketFileError) {
        self.host = host
        file = try ControlSocketFile(path: socketPath, isShared: access.isShared)
        self.limits = limits
        self.access = access
        self.logger = logger
        self.moments = moments
        self.onServing = onServing
        owner = PeerCredentials.ownUser
    }

    /// Checks that a host can serve a socket, before it starts anything.
    ///
    /// - Throws: ``SocketFileError`` if other users could replace the socket, or if another host serves it.
    public static func check(socketPath: String, access: ControlAccess) throws {
        try check(ControlSocketFile(path: socketPath, isShared: access.isShared))
    }

    private static func check(_ file: ControlSocketFile) throws {
        try file.prepareDirectory()
        if try file.isServed() {
            throw SocketFileError(
                path: file.path, finding: "another host answers there",
                remedy: "Stop that host, or set 'paths.socket' (--socket) of this one to another path")
        }
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``SocketFileError`` if other users could replace the socket, or if another host serves it.
    public func run() async throws {
        try Self.check(file)
        file.makeRoom()
        if access.isShared, !file.isReachable {
            logger.warning(
                "Groups have powers, but other users can't reach the control socket. Permit them to pass: chmod o+x on its directory",
                metadata: ["socket": "\(file.path)"])
        }
        let publication = Publication()
        let loop = ControlLoop()
        let connections = Connections(limits: limits, judge: PeerJudge(host: host, owner: owner))
        var http = HTTP1Channel.Configuration()
        http.additionalChannelHandlers = { [RequestDeadlines(connections)] }
        http.httpDecoder.maxHeaderListSize = 16 << 10
        http.httpDecoder.maxHeaderFieldSize = 8 << 10
        http.httpDecoder.maxHeaderFieldCount = 64
        // This is Hummingbird's server without its `Application`, which wakes up once a second to update the
        // date.
        let server = try HTTPServerBuilder.http1(configuration: http).buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: file.boundPath),
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: quiet)),
            eventLoopGroup: loop.group, logger: quiet,
            responder: responder(connections),
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
    private func responder(_ connections: Connections) -> HTTPChannelHandler.Responder {
        let (router, date) = (router(connections).buildResponder(), DateHeader())
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

    private func router(_ connections: Connections) -> Router<ControlContext> {
        let router = Router(context: ControlContext.self)
        router.add(middleware: ErrorMiddleware(logger: logger))
        router.add(
            middleware: PeerMiddleware(connections: connections, owner: owner, access: access, logger: logger)
        )
        let routes = RouteTable(group: router.group(RouterPath(ControlProtocol.pathPrefix)))
        RequestRoutes(host: host, limits: limits).add(to: routes)
        LaunchRoutes(host: host, limits: limits).add(to: routes)
        TransferRoutes(host: host, limits: limits).add(to: routes)
        HostRoutes(host: host, limits: limits, owner: owner).add(to: routes)
        NameRoutes(host: host).add(to: routes)
        BundleRoutes(host: host, limits: limits).add(to: routes)
        StreamRoutes(host: host, connections: connections, events: EventFeed(of: host)).add(to: routes)
        ClientRoutes(host: host, connections: connections).add(to: routes)
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
