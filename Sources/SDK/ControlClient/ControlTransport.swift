import ControlWire
import FoundationEssentials
import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOPosix

/// HTTP/1.1 over the socket: one connection per exchange.
struct ControlTransport: Sendable {
    enum Method: Sendable {
        case GET, POST, PATCH, DELETE

        fileprivate var http: HTTPMethod {
            switch self {
            case .GET: .GET
            case .POST: .POST
            case .PATCH: .PATCH
            case .DELETE: .DELETE
            }
        }
    }

    typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let socketPath: String

    /// Sends a request and gives the body of its success.
    func exchange(_ method: Method, _ path: String, body: Data?) async throws(ControlClientError) -> Data {
        let connection = try await connect()
        return try await speaking {
            try await connection.executeThenClose { inbound, outbound in
                var parts = inbound.makeAsyncIterator()
                let status: UInt
                do {
                    try await send(method, path, body: body, to: outbound)
                    status = try await readHead(&parts)
                } catch let failure {
                    // A host that refuses a body before its end stops reading; what it said still waits here.
                    guard !(failure is ControlClientError), let said = try? await readHead(&parts) else {
                        throw failure
                    }
                    status = said
                }
                let data = try await readBody(&parts)
                guard (200..<300).contains(status) else { throw refusal(status: status, body: data) }
                return data
            }
        }
    }

    /// Opens an event stream and returns when the host has begun it; what follows comes through the stream.
    func follow<Value: Sendable>(
        _ path: String, decode: @escaping @Sendable (EventStreamDecoder.Event) throws -> Value?
    ) async throws(ControlClientError) -> AsyncThrowingStream<Value, any Error> {
        let connection = try await connect()
        let (stream, values) = AsyncThrowingStream.makeStream(of: Value.self)
        let (opening, opened) = AsyncThrowingStream.makeStream(of: Void.self)
        // Not a child task: the stream outlives this call, and its end cancels the task.
        let reading = Task {
            do {
                try await connection.executeThenClose { inbound, outbound in
                    try await send(.GET, path, body: nil, to: outbound)
                    var parts = inbound.makeAsyncIterator()
                    let status = try await readHead(&parts)
                    guard status == 200 else {
                        throw refusal(status: status, body: try await readBody(&parts))
                    }
                    var decoder = EventStreamDecoder()
                    while let part = try await parts.next() {
                        guard case .body(let buffer) = part else { break }
                        // The first bytes are the host's sign that it listens.
                        opened.finish()
                        for event in try decoder.decode(buffer.readableBytesView) {
                            if let value = try decode(event) { values.yield(value) }
                        }
                    }
                }
                opened.finish()
                values.finish()
            } catch {
                let failure = translate(error)
                opened.finish(throwing: failure)
                values.finish(throwing: failure)
            }
        }
        values.onTermination = { _ in reading.cancel() }
        return try await speaking {
            for try await _ in opening {}
            return stream
        }
    }

    private func connect() async throws(ControlClientError) -> Connection {
        do {
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
                .connect(unixDomainSocketPath: socketPath) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try Connection(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            throw .unreachable(socket: socketPath, cause: Self.cause(of: error))
        }
    }

    private func send(
        _ method: Method, _ path: String, body: Data?,
        to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    ) async throws {
        var headers: HTTPHeaders = ["host": "bgtask", "connection": "close", "accept": "application/json"]
        if let body {
            headers.add(name: "content-type", value: "application/json")
            headers.add(name: "content-length", value: String(body.count))
        }
        let head = HTTPRequestHead(version: .http1_1, method: method.http, uri: path, headers: headers)
        try await outbound.write(.head(head))
        if let body { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        try await outbound.write(.end(nil))
    }

    private func readHead(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    ) async throws -> UInt {
        guard case .head(let head)? = try await parts.next() else { throw broken("it closed the connection") }
        return head.status.code
    }

    private func readBody(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    ) async throws -> Data {
        var data = Data()
        while let part = try await parts.next() {
            switch part {
            case .body(let buffer):
                guard data.count + buffer.readableBytes <= ControlProtocol.maximumResponseLength else {
                    throw broken("the answer has more than \(ControlProtocol.maximumResponseLength) bytes")
                }
                data.append(contentsOf: buffer.readableBytesView)
            case .end:
                return data
            case .head:
                throw broken("a second answer came")
            }
        }
        throw broken("the answer stopped in the middle")
    }

    private func refusal(status: UInt, body: Data) -> ControlClientError {
        guard let message = try? ControlJSON.decode(ErrorMessage.self, from: body) else {
            return broken("status \(status) without an error that this version knows")
        }
        return .refused(message)
    }

    /// Runs a conversation and gives its faults the one type that callers know.
    private func speaking<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(ControlClientError) -> Value {
        do {
            return try await body()
        } catch {
            throw translate(error)
        }
    }

    private func translate(_ error: any Error) -> ControlClientError {
        switch error {
        case let error as ControlClientError: error
        case is CancellationError: broken("the call was cancelled")
        case is DecodingError: broken(ControlJSON.sentence(of: error))
        case is EventStreamDecoder.TooLong:
            broken("an event has more than \(EventStreamDecoder.maximumLength) bytes")
        default: broken(Self.cause(of: error))
        }
    }

    private func broken(_ finding: String) -> ControlClientError {
        .broken(socket: socketPath, finding: finding)
    }

    private static func cause(of error: any Error) -> String {
        switch error {
        case let error as IOError: SystemCallError.text(of: error.errnoCode)
        case is SocketAddressError: "the path is too long for a socket"
        default: "\(error)"
        }
    }
}
