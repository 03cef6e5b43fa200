import ControlWire
import FoundationEssentials
import Hummingbird
import NIOCore
import TaskModel

extension Response {
    /// A response with one message as JSON.
    static func json(_ message: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let data = try ControlJSON.line(message)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}

extension Request {
    /// Reads the whole body as one message, within the limits of length and time.
    func message<Message: Decodable>(
        _ type: Message.Type, context: ControlContext, limits: ControlServer.Limits
    ) async throws -> Message {
        let subject = "\(method.rawValue) \(uri.path)"
        let buffer = try await collectBody(subject: subject, context: context, limits: limits)
        do {
            return try ControlJSON.decode(type, from: Data(buffer.readableBytesView))
        } catch {
            throw ErrorMessage(
                .malformedBody, subject: subject, finding: Printable.text(ControlJSON.sentence(of: error)),
                remedy: "Send one JSON object as Documentation/ControlAPI.md describes it")
        }
    }

    private func collectBody(
        subject: String, context: ControlContext, limits: ControlServer.Limits
    ) async throws -> ByteBuffer {
        // A client that dribbles loses its connection: the body's iterator then ends or throws.
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
                        remedy: "Send less; a payload may have 48 KiB")
                }
                collected.writeImmutableBuffer(part)
            }
        } catch let error as ErrorMessage {
            throw error
        } catch {
            throw ErrorMessage(
                .malformedBody, subject: subject, finding: "the body stopped in the middle",
                remedy: "Send as many bytes as Content-Length says")
        }
        return collected
    }

    /// One value of the query; `nil` if it is not there.
    func query(_ name: String) -> String? {
        uri.queryParameters[Substring(name)].map(String.init)
    }
}

/// Reads what clients wrote as text, and says what was wrong with it.
enum ClientText {
    static func target(_ text: String) throws -> ControlTarget {
        do {
            return try ControlTarget(text)
        } catch {
            throw invalid(
                text, "\(error)", remedy: "Name a request (R17), a launch (L42) or a task's identifier")
        }
    }

    static func identifier(_ text: String) throws -> TaskIdentifier {
        do {
            return try TaskIdentifier(text)
        } catch {
            throw invalid(text, "\(error)", remedy: "Name a task's identifier")
        }
    }

    static func bundle(_ text: String) throws -> BundleIdentifier {
        do {
            return try BundleIdentifier(text)
        } catch {
            throw invalid(text, "\(error)", remedy: "Name a bundle, as 'bgtask settings' lists them")
        }
    }

    static func launch(_ text: String) throws -> LaunchID {
        guard let id = LaunchID(text) else {
            throw invalid(text, "it is no launch", remedy: "Name a launch as listings show it, such as L42")
        }
        return id
    }

    static func limit(_ text: String?) throws -> Int {
        guard let text else { return ControlProtocol.standardLaunchLimit }
        guard let limit = Int(text), (1...ControlProtocol.maximumLaunchLimit).contains(limit) else {
            throw invalid(
                text, "it is no limit", remedy: "Give 1 through \(ControlProtocol.maximumLaunchLimit)")
        }
        return limit
    }

    static func invalid(_ subject: String, _ finding: String, remedy: String) -> SubmissionError {
        SubmissionError(
            code: .invalidRequest, subject: Printable.text(subject), finding: finding, remedy: remedy)
    }
}
