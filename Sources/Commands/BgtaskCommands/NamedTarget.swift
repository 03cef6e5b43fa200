import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// What a command is about: a launch, a request, a transfer or a task.
///
/// `L`, `R` or `T` with a number always means a launch, a request or a transfer, although it could be the
/// identifier of a task.
enum NamedTarget: CustomStringConvertible {
    case launch(LaunchID)
    case request(RequestID)
    case transfer(TransferID)
    case identifier(TaskIdentifier)

    var description: String {
        switch self {
        case .launch(let id): "\(id)"
        case .request(let id): "\(id)"
        case .transfer(let id): "\(id)"
        case .identifier(let identifier): "\(identifier)"
        }
    }
}

/// A target as a user writes it.
enum WrittenTarget: ExpressibleByArgument {
    /// `L42`, `R17`, `T5`, an identifier, or a short form of one.
    case named(NamedTarget)
    /// `42`: the launch L42, or else the request R42.
    case number(Int64)
    /// `-`: the newest launch.
    case newest

    /// Reads a target; `nil` for a text that is none of them.
    init?(argument: String) {
        if argument == "-" {
            self = .newest
        } else if let launch = LaunchID(argument) {
            self = .named(.launch(launch))
        } else if let request = RequestID(argument) {
            self = .named(.request(request))
        } else if let transfer = TransferID(argument) {
            self = .named(.transfer(transfer))
        } else if argument.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let number = Int64(argument) else { return nil }
            self = .number(number)
        } else if let identifier = try? TaskIdentifier(argument) {
            self = .named(.identifier(identifier))
        } else {
            return nil
        }
    }

    static var defaultCompletionKind: CompletionKind { LiveNames.targets }
}

extension ControlClient {
    /// The newest launch of a task; `nil` if the host remembers none.
    func newestLaunch(of identifier: TaskIdentifier) async throws -> LaunchMessage? {
        try await launchPage(LaunchFilter(identifier: identifier), after: nil, limit: 1).launches.first
    }

    /// What a written target means.
    ///
    /// - Throws: ``ControlClientError/refused(_:)`` if it is a short form of more than one identifier, or `-`
    ///   when there was no launch yet.
    func target(_ written: WrittenTarget) async throws -> NamedTarget {
        switch written {
        case .named(.identifier(let name)): return .identifier(try await task(name))
        case .named(let target): return target
        case .number(let number):
            let launch = LaunchID(rawValue: number)
            do {
                return .launch(try await self.launch(launch).launch.launch)
            } catch ControlClientError.refused(let refusal) where refusal.isOfUnknownName {
                let request = RequestID(rawValue: number)
                if (try? await self.request(request)) != nil { return .request(request) }
                throw ControlClientError.refused(refusal)
            }
        case .newest:
            guard let newest = try await launchPage(after: nil, limit: 1).launches.first else {
                throw ControlClientError.refused(
                    ErrorMessage(
                        SubmissionError(
                            code: .notFound, subject: "-", finding: "the host has not launched anything yet",
                            remedy: "Name a task, or see what waits: bgtask pending")))
            }
            return .launch(newest.launch)
        }
    }

    /// The request, launch or task that a command is to end.
    ///
    /// A number without its letter means what is still alive.
    ///
    /// - Throws: ``ControlClientError/refused(_:)`` if both a request and a launch with the number are alive,
    ///   or neither.
    func living(_ written: WrittenTarget) async throws -> NamedTarget {
        guard case .number(let number) = written else { return try await target(written) }
        let (launch, request) = (LaunchID(rawValue: number), RequestID(rawValue: number))
        let runs = (try? await self.launch(launch)).map { $0.launch.endedAt == nil } ?? false
        let waits =
            (try? await self.request(request)).map { $0.state == RequestState.pending.rawValue } ?? false
        switch (runs, waits) {
        case (true, false): return .launch(launch)
        case (false, true): return .request(request)
        case (true, true), (false, false):
            throw ControlClientError.refused(
                ErrorMessage(
                    SubmissionError(
                        code: .notFound, subject: "\(number)",
                        finding: runs
                            ? "the launch \(launch) runs, and the request \(request) waits"
                            : "no launch \(launch) runs, and no request \(request) waits",
                        remedy: runs
                            ? "Write \(launch) or \(request)"
                            : "To see what waits: bgtask pending; what runs: bgtask launches")))
        }
    }
}
