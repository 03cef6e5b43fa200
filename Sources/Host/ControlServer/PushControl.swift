public import TaskModel

/// What the control channel does with pushes; the host implements it.
public protocol PushControl: Sendable {
    /// Delivers a silent push to the bundle's task of kind `push`; it replaces a push that waits.
    ///
    /// - Returns: The durable request, and the one that it replaces.
    /// - Throws: `notPermitted` if the bundle has no such task; any code of ``HostControl/submit(_:from:)``.
    func push(
        to bundle: BundleIdentifier, payload: String?, priority: PushPriority
    ) async throws(SubmissionError) -> AcceptedSubmission

    /// The bundles that are registered with a distributor of UnifiedPush, with their endpoints; sorted by
    /// name.
    ///
    /// - Throws: `unavailable` if the file with the registrations can't be read.
    func endpoints() async throws(SubmissionError) -> [PushEndpoint]

    /// Changes the secrets with which senders outside sign the pushes of a bundle.
    ///
    /// - Returns: The new secret, which nothing shows again, and its file.
    /// - Throws: `notFound` or `notPermitted` without a task of the kind push; `invalidRequest` if the
    ///   present secrets do not permit the change; `unavailable` if the file can't be used.
    func changeSecret(
        of bundle: BundleIdentifier, _ change: PushSecretChange
    ) async throws(SubmissionError) -> PushSecretFacts
}
