import ControlWire
import Hummingbird
import Logging
import TaskModel

/// Converts every error of a route to an answer with an ``ErrorMessage``, the only form of errors in the API.
struct ErrorMiddleware: RouterMiddleware {
    typealias Context = ControlContext

    let logger: Logger

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as SubmissionError {
            return try respond(ErrorMessage(error), status: status(of: error.code))
        } catch let error as ErrorMessage {
            return try respond(error, status: status(of: error))
        } catch let error as HTTPError where error.status == .notFound || error.status == .methodNotAllowed {
            let message = ErrorMessage(
                .noSuchRoute, subject: "\(request.method.rawValue) \(Printable.text(request.uri.path))",
                finding: "this host has no such route",
                remedy: "See Documentation/ControlAPI.md for the routes")
            return try respond(message, status: .notFound)
        } catch let error as CancellationError {
            throw error
        } catch {
            let cause = "\(request.method.rawValue) \(Printable.text(request.uri.path)): \(error)"
            if context.channel.isActive {
                logger.error("a request failed: \(cause)")
            } else {
                // The client is gone, so it can't read the answer. A client that was killed is not a fault of
                // the host.
                logger.debug("a client disconnected before it received its answer: \(cause)")
            }
            let message = ErrorMessage(
                .internalError, subject: Printable.text(request.uri.path),
                finding: "the host failed to answer",
                remedy: "Look for the cause in the host's log: bgtask logs")
            return try respond(message, status: .internalServerError)
        }
    }

    private func respond(_ message: ErrorMessage, status: HTTPResponse.Status) throws -> Response {
        var response = try Response.json(message, status: status)
        // The rest of the request is not read, so no other request may follow on this connection.
        response.headers[.connection] = "close"
        return response
    }

    private func status(of code: SubmissionError.Code) -> HTTPResponse.Status {
        switch code {
        case .unavailable: .serviceUnavailable
        case .tooManyPendingTaskRequests: .tooManyRequests
        case .notPermitted: .forbidden
        case .immediateRunIneligible, .unprepared: .conflict
        case .invalidRequest: .badRequest
        case .notFound: .notFound
        }
    }

    private func status(of message: ErrorMessage) -> HTTPResponse.Status {
        switch ErrorMessage.Code(rawValue: message.code) {
        case .peerNotAllowed: .forbidden
        case .noSuchRoute: .notFound
        case .malformedBody: .badRequest
        case .bodyTooLarge: .contentTooLarge
        case .requestTimedOut: .requestTimeout
        case .tooManyFollowers: .serviceUnavailable
        case .internalError, .usage, nil: .internalServerError
        }
    }
}
