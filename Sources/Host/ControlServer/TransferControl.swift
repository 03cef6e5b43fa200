public import TaskModel

/// What the control channel does with transfers; the host implements it.
public protocol TransferControl: Sendable {
    /// Makes a transfer, whatever happens to its client; it is durable when the method returns.
    ///
    /// - Throws: `invalidRequest` if the request is not valid; `unavailable` if it can't be stored.
    func transfer(_ request: TransferRequest) async throws(SubmissionError) -> Transfer

    /// Makes several transfers, all or none; they are durable when the method returns.
    ///
    /// - Returns: The transfers, in the order of the requests.
    /// - Throws: `invalidRequest` if one of the requests is not valid; `unavailable` if they can't be stored.
    func transfer(_ requests: [TransferRequest]) async throws(SubmissionError) -> [TransferID]

    /// Cancels a transfer.
    ///
    /// - Returns: The transfer, which has ended.
    /// - Throws: `notFound` if the host knows no such transfer, or if it has ended.
    func cancelTransfer(_ id: TransferID) async throws(SubmissionError) -> Transfer

    /// The transfers, oldest first, with what holds those that wait.
    func all() async throws(SubmissionError) -> [ExplainedTransfer]

    /// One transfer.
    ///
    /// - Throws: `notFound` if the host knows no such transfer.
    func transfer(_ id: TransferID) async throws(SubmissionError) -> ExplainedTransfer
}
