import ControlChannel
import ControlWire
import FoundationEssentials
import LinuxSystem
import Synchronization

/// Makes the blocking calls of ControlChannel asynchronous: each runs on its own thread.
struct ControlTransport: Sendable {
    enum Method: String, Sendable {
        case GET, POST, PATCH, DELETE
    }

    /// The continuation of a Swift task that waits for a call on another thread.
    private typealias Caller<Value> = CheckedContinuation<Result<Value, ControlFailure>, Never>

    private let connection: ControlConnection

    init(socketPath: String, timeout: Int?) {
        connection = ControlConnection(path: socketPath, timeout: timeout)
    }

    /// Sends a request and returns the body of a successful response.
    func exchange(_ method: Method, _ path: String, body: Data?) async throws(ControlClientError) -> Data {
        let bytes = body.map { [UInt8]($0) }
        let answer = try await waiting(on: "bgtask-call") {
            (socket, ended: Caller<ControlConnection.Answer>) in
            do throws(ControlFailure) {
                ended.resume(
                    returning: .success(
                        try connection.send(method.rawValue, path, body: bytes, over: socket)))
            } catch {
                ended.resume(returning: .failure(error))
            }
        }
        guard (200..<300).contains(answer.status) else { throw refusal(answer) }
        return Data(answer.body)
    }

    /// Passes the body of a successful response on in parts of whole lines, as they arrive.
    ///
    /// - Throws: ``ControlClientError``, or the error of `receive`, which ends the connection.
    func read(_ path: String, _ receive: @escaping @Sendable (String) throws -> Void) async throws {
        try await readLines(path) { lines in try receive(String(decoding: lines, as: UTF8.self)) }
    }

    /// Decodes the body of a successful response, which has one row in each line, as it arrives.
    ///
    /// - Parameters:
    ///   - path: The path, with its query.
    ///   - decode: Decodes a line.
    ///   - receive: Called on another thread with the rows: as many as a page has, and at the end the others.
    /// - Throws: ``ControlClientError``, or the error of `receive`, which ends the connection.
    func readRows<Row: Sendable>(
        _ path: String, _ decode: @escaping @Sendable (ArraySlice<UInt8>) throws -> Row,
        _ receive: @escaping @Sendable ([Row]) throws -> Void
    ) async throws {
        let waiting = Mutex<[Row]>([])
        try await readLines(path) { lines in
            try waiting.withLock { rows in
                var rest = lines
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    do {
                        rows.append(try decode(rest[..<end]))
                    } catch {
                        throw broken("\(error)")
                    }
                    rest = rest[(end + 1)...]
                    if rows.count == ControlProtocol.maximumPageLength {
                        try receive(rows)
                        rows.removeAll(keepingCapacity: true)
                    }
                }
                guard rest.isEmpty else { throw broken("its last row is not complete") }
            }
        }
        let last = waiting.withLock { $0 }
        if !last.isEmpty { try receive(last) }
    }

    /// Passes the body of a successful response on in parts of whole lines, as they arrive.
    private func readLines(
        _ path: String, _ receive: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void
    ) async throws {
        let failure: (any Error)? = try await waiting(on: "bgtask-call") {
            (socket, ended: Caller<(any Error)?>) in
            do {
                var rest: [UInt8] = []
                try connection.read(path, over: socket) { part in
                    rest += part
                    // Only at the end of a line can no character be cut in two.
                    guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
                    try receive(rest[...end])
                    rest.removeFirst(end + 1)
                }
                if !rest.isEmpty { try receive(rest[...]) }
                ended.resume(returning: .success(nil))
            } catch let failure as ControlFailure {
                ended.resume(returning: .failure(failure))
            } catch {
                ended.resume(returning: .success(error))
            }
        }
        if let failure { throw failure }
    }

    /// Requests an event stream, and returns when the host has begun to send it.
    ///
    /// The stream delivers the decoded values; cancelling it closes the connection.
    func follow<Value: Sendable>(
        _ path: String, decode: @escaping @Sendable (EventStreamDecoder.Event) throws -> Value?
    ) async throws(ControlClientError) -> AsyncThrowingStream<Value, any Error> {
        let (stream, values) = AsyncThrowingStream.makeStream(of: Value.self)
        try await waiting(on: "bgtask-events") { (socket, opened: Caller<Void>) in
            var events: ControlStream
            do throws(ControlFailure) {
                events = try connection.stream(Method.GET.rawValue, path, over: socket)
            } catch {
                return opened.resume(returning: .failure(error))
            }
            values.onTermination = { _ in socket.cancel() }
            opened.resume(returning: .success(()))
            do {
                while let event = try events.next() {
                    if let value = try decode(event) { values.yield(value) }
                }
                values.finish()
            } catch let failure as ControlFailure {
                values.finish(throwing: translate(failure))
            } catch {
                values.finish(throwing: broken(ControlJSON.sentence(of: error)))
            }
        }
        return stream
    }

    /// Runs `body` on a new thread, and waits until it resumes the continuation.
    ///
    /// If the caller's Swift task is cancelled, the socket is cancelled, so that `body` ends early.
    private func waiting<Value: Sendable>(
        on thread: String,
        _ body:
            @escaping @Sendable (
                LocalSocket, CheckedContinuation<Result<Value, ControlFailure>, Never>
            ) -> Void
    ) async throws(ControlClientError) -> Value {
        do throws(ControlFailure) {
            let socket = try connection.socket()
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { caller in
                    BlockingThread.start(named: thread) { body(socket, caller) }
                }
            } onCancel: {
                socket.cancel()
            }
            return try result.get()
        } catch {
            throw translate(error)
        }
    }

    private func refusal(_ answer: ControlConnection.Answer) -> ControlClientError {
        guard let message = try? ControlJSON.decode(ErrorMessage.self, from: Data(answer.body)) else {
            return broken(
                "it answered with status \(answer.status) and an error that this version of bgtask can't read"
            )
        }
        return .refused(message)
    }

    private func translate(_ failure: ControlFailure) -> ControlClientError {
        switch failure {
        case .unreachable(let cause): .unreachable(socket: connection.path, cause: cause)
        case .broken(let finding): broken(finding)
        case .timedOut(let seconds): .timedOut(socket: connection.path, seconds: seconds)
        case .refused(let answer): refusal(answer)
        case .cancelled: broken("the call was cancelled")
        }
    }

    private func broken(_ finding: String) -> ControlClientError {
        .broken(socket: connection.path, finding: finding)
    }
}
