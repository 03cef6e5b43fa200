import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// What a command is about: a launch, a request or a task.
///
/// `L` or `R` with a number always means a launch or a request, although it could be the identifier of a
/// task.
enum NamedTarget: ExpressibleByArgument, CustomStringConvertible {
    case launch(LaunchID)
    case request(RequestID)
    case transfer(TransferID)
    case identifier(TaskIdentifier)

    /// Reads a number such as `L42` or `R17`, or an identifier; `nil` for anything else, and for a number
    /// without its letter.
    init?(argument: String) {
        if let launch = LaunchID(argument) {
            self = .launch(launch)
        } else if let request = RequestID(argument) {
            self = .request(request)
        } else if let transfer = TransferID(argument) {
            self = .transfer(transfer)
        } else if Int(argument) == nil, let identifier = try? TaskIdentifier(argument) {
            self = .identifier(identifier)
        } else {
            return nil
        }
    }

    var description: String {
        switch self {
        case .launch(let id): "\(id)"
        case .request(let id): "\(id)"
        case .transfer(let id): "\(id)"
        case .identifier(let identifier): "\(identifier)"
        }
    }

    /// The error for a task of which the host knows neither a request nor a launch.
    static func unknown(_ identifier: TaskIdentifier) -> ControlClientError {
        .refused(
            ErrorMessage(
                SubmissionError(
                    code: .notFound, subject: "\(identifier)",
                    finding: "it has no pending request, and the host remembers no launch of it",
                    remedy: "To see what a request would wait for: bgtask explain \(identifier)")))
    }
}

extension ControlClient {
    /// The newest launch of a task; `nil` if the host remembers none.
    func newestLaunch(of identifier: TaskIdentifier) async throws -> LaunchMessage? {
        try await launchPage(identifier: identifier, after: nil, limit: 1).launches.first
    }
}
