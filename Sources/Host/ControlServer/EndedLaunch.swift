import ControlWire
import TaskModel

extension HostControl {
    /// Calls the host about a target.
    ///
    /// If the host does not find the target because it is a launch that has ended, the error says how and
    /// when it ended.
    ///
    /// - Parameters:
    ///   - target: The target that the client named.
    ///   - call: The call to make.
    /// - Returns: The result of the call.
    /// - Throws: The error of the call.
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
                remedy: "To see how: bgtask show \(id)")
        }
    }
}
