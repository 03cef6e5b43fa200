import ControlWire
import TaskModel

extension HostControl {
    /// Makes a call about a target, and explains a refusal by the end of the launch, if it has ended.
    ///
    /// - Parameters:
    ///   - target: What the client named; only a launch can have ended.
    ///   - call: The call.
    /// - Returns: What the call returns.
    /// - Throws: What the call throws. `notFound` about an ended launch says how and when it ended.
    func naming<Answer>(
        theEndOf target: ControlTarget, _ call: (any HostControl) async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await call(self)
        } catch let error as SubmissionError where error.code == .notFound {
            guard case .launch(let id) = target, let record = try? await launch(id).record,
                let ended = record.endedAt
            else { throw error }
            let end = [record.end?.outcome.rawValue, record.end?.reason?.rawValue].compactMap(\.self)
            throw SubmissionError(
                code: .notFound, subject: error.subject,
                finding: "it ended at \(Timestamp(ended)): \(end.joined(separator: ", "))",
                remedy: "See it: bgtask show \(id)")
        }
    }
}
