import ControlWire
import FoundationEssentials
import Hummingbird
import NIOCore
import TaskModel

extension Response {
    /// Creates a response whose body is one message as JSON.
    static func json(_ message: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let data = try ControlJSON.line(message)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}

extension Response {
    /// A response with JSON that is already encoded.
    static func json(bytes: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// Reads the whole body as one message, within the limits of length and time.
    ///
    /// - Throws: ``ErrorMessage`` or ``SubmissionError``, to be sent to the client.
    func message<Message: Decodable>(
        _ type: Message.Type, context: ControlContext, limits: ControlServer.Limits
    ) async throws -> Message {
        let buffer = try await collectBody(context: context, limits: limits)
        do {
            let data = Data(buffer.readableBytesView)
            let message = try ControlJSON.decodeStrictly(type, from: data)
            if let twice = RepeatedKey.first(in: data) {
                throw ClientText.invalid(
                    subject, "the key '\(Printable.text(twice, maximumLength: 64))' is given more than once",
                    remedy: "Give it once")
            }
            return message
        } catch let error as SubmissionError {
            throw error
        } catch let error as UnknownKeyError {
            throw UnknownName.refusal(
                error.path.joined(separator: "."), of: .key, valid: error.validKeys, subject: subject)
        } catch {
            throw ErrorMessage(
                .malformedBody, subject: subject, finding: Printable.text(ControlJSON.sentence(of: error)),
                remedy: "Send one JSON object as Documentation/ControlAPI.md describes it")
        }
    }

    /// Refuses a body on a route that has none, because the client would not notice that the body has no
    /// effect.
    func requireNoBody(context: ControlContext, limits: ControlServer.Limits) async throws {
        guard try await collectBody(context: context, limits: limits).readableBytes > 0 else { return }
        throw ClientText.invalid(
            subject, "this route takes no body", remedy: "Send the request without one")
    }

    /// What to do about a body that is too large: a list can be sent in parts, a payload can't.
    private var bodyRemedy: String {
        if uri.path.hasPrefix("/v1/transfers") {
            return "Send fewer transfers in one call; one call may have at most "
                + "\(ControlProtocol.maximumTransfers)"
        }
        return "Send a smaller body; a payload may have at most 48 KiB"
    }

    /// The subject of errors about the whole request, such as `POST /v1/requests`.
    var subject: String { "\(method.rawValue) \(Printable.text(uri.path))" }

    private func collectBody(
        context: ControlContext, limits: ControlServer.Limits
    ) async throws -> ByteBuffer {
        // A client that sends too slowly loses its connection. The loop over the body then ends or throws.
        let channel = context.channel
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(limits.requestSeconds)) {
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        var collected = ByteBuffer()
        do {
            for try await part in body {
                guard collected.readableBytes + part.readableBytes <= limits.bodyLength else {
                    throw ErrorMessage(
                        .bodyTooLarge, subject: subject,
                        finding: "the body has more than \(limits.bodyLength) bytes",
                        remedy: bodyRemedy)
                }
                collected.writeImmutableBuffer(part)
            }
        } catch let error as ErrorMessage {
            throw error
        } catch {
            throw ErrorMessage(
                .malformedBody, subject: subject, finding: "the body is incomplete",
                remedy: "Send as many bytes as Content-Length says")
        }
        return collected
    }

    /// Refuses parameters that have no effect together with another one.
    func refuse(_ others: [QueryKey], beside key: QueryKey) throws {
        guard let other = others.first(where: { query($0) != nil }) else { return }
        throw ClientText.invalid(
            subject, "'\(other.rawValue)' has no effect together with '\(key.rawValue)'",
            remedy: "Leave one of the two out")
    }

    /// The value of a query parameter; `nil` if the request does not have it.
    func query(_ key: QueryKey) -> String? {
        uri.queryParameters[Substring(key.rawValue)].map(String.init)
    }
}

/// The beginning of a page: after a row, or at the first row.
struct PageStart<ID> {
    var after: ID?
}

/// Parses texts from clients; the errors say what is wrong with a text.
enum ClientText {
    static func target(_ text: String) throws -> ControlTarget {
        do {
            return try ControlTarget(text)
        } catch {
            throw invalid(
                text, "\(error)", remedy: "Give a request (R17), a launch (L42) or a task's identifier")
        }
    }

    static func identifier(_ text: String) throws -> TaskIdentifier {
        do {
            return try TaskIdentifier(text)
        } catch {
            throw invalid(text, "\(error)", remedy: "Give a task's identifier")
        }
    }

    static func tag(_ text: String) throws -> Tag {
        do {
            return try Tag(text)
        } catch {
            throw invalid(text, "this is not a valid tag", remedy: "\(error)")
        }
    }

    static func outcome(_ text: String) throws -> Outcome {
        guard let outcome = Outcome(rawValue: text) else {
            throw invalid(
                text, "it is not a valid value of 'outcome'",
                remedy: "Give one of " + Outcome.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return outcome
    }

    static func bundle(_ text: String) throws -> BundleIdentifier {
        do {
            return try BundleIdentifier(text)
        } catch {
            throw invalid(text, "\(error)", remedy: "Give a bundle that 'bgtask settings' lists")
        }
    }

    static func request(_ text: String) throws -> TaskModel.RequestID {
        guard let id = TaskModel.RequestID(text) else {
            throw invalid(
                text, "this is not the number of a request",
                remedy: "Give a request as listings show it, such as R17")
        }
        return id
    }

    static func launch(_ text: String) throws -> LaunchID {
        guard let id = LaunchID(text) else {
            throw invalid(
                text, "this is not the name of a launch",
                remedy: "Give a launch as listings show it, such as L42")
        }
        return id
    }

    static func limit(
        _ text: String?, standard: Int = ControlProtocol.standardLaunchLimit,
        most: Int = ControlProtocol.maximumPageLength
    ) throws -> Int {
        guard let text else { return standard }
        guard let limit = Int(text), (1...most).contains(limit) else {
            throw invalid(text, "it is not a valid limit", remedy: "Give 1 to \(most)")
        }
        return limit
    }

    /// A date such as `2026-11-21T08:00:00Z`.
    static func date(_ text: String) throws -> WallTime {
        guard let date = Timestamp(text) else {
            throw invalid(text, "it is not a valid date", remedy: "Give one such as 2026-11-21T08:00:00Z")
        }
        return date.time
    }

    /// Where a page begins, from the query parameter `after`; `nil` if the query asks for no page.
    static func pageStart<ID>(_ text: String?, _ read: (String) -> ID?) throws -> PageStart<ID>? {
        guard let text else { return nil }
        if text.isEmpty { return PageStart(after: nil) }
        guard let id = read(text) else {
            throw invalid(
                text, "it is not a valid value of 'after'",
                remedy: "Give the 'next' of the page before, or an empty value for the first page")
        }
        return PageStart(after: id)
    }

    static func flag(_ key: QueryKey, _ text: String?) throws -> Bool {
        switch text {
        case nil, "false": false
        case "true": true
        case let text?:
            throw invalid(
                text, "it is not a valid value of '\(key.rawValue)'", remedy: "Give true or false")
        }
    }

    /// Whether a listing is asked for as rows: arrays without keys, each on its own line.
    static func asksForRows(_ text: String?) throws -> Bool {
        guard let text else { return false }
        guard text == "rows" else {
            throw invalid(text, "it is not a valid value of 'form'", remedy: "Give rows, or leave 'form' out")
        }
        return true
    }

    /// Whether a listing leaves out the requests behind the first ones of queues.
    static func folds(_ text: String?) throws -> Bool {
        guard let text else { return false }
        guard text == "first" else {
            throw invalid(
                text, "it is not a valid value of 'queues'", remedy: "Give first, or leave 'queues' out")
        }
        return true
    }

    static func invalid(_ subject: String, _ finding: String, remedy: String) -> SubmissionError {
        SubmissionError(
            code: .invalidRequest, subject: Printable.text(subject), finding: finding, remedy: remedy)
    }
}
