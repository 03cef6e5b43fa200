public import TaskModel

extension PushSecretFiles {
    /// Makes a change of a bundle's secrets, which is durable when the function returns.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - bundle: The bundle.
    /// - Returns: The new secret, which nothing shows again, and its file.
    /// - Throws: `invalidRequest` if the present secrets do not permit the change; `unavailable` if the file
    ///   can't be read or written.
    public func make(
        _ change: PushSecretChange, of bundle: BundleIdentifier
    ) throws(SubmissionError) -> PushSecretFacts {
        func refusal(_ code: SubmissionError.Code, _ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(code: code, subject: "\(bundle)", finding: finding, remedy: remedy)
        }
        do {
            // A damaged file can be replaced and removed.
            let isRepair = change == .replace || change == .remove
            let present = isRepair ? [] : try secrets(of: bundle)
            guard let new = change.applied(to: present) else {
                throw present.isEmpty
                    ? refusal(
                        .invalidRequest, "it has no secret for pushes",
                        "Make one: bgtask push-secret \(bundle)")
                    : refusal(
                        .invalidRequest, "it has a secret for pushes already",
                        "Add --rotate to make another one, or --replace to reject those before")
            }
            try set(new, of: bundle)
            let isNew = change == .create || change == .rotate || change == .replace
            return PushSecretFacts(
                path: path(of: bundle), secret: isNew ? new.first?.text : nil, count: new.count)
        } catch let refusal as SubmissionError {
            throw refusal
        } catch let problem as Problem {
            throw refusal(.unavailable, problem.finding, problem.remedy)
        } catch {
            throw refusal(
                .unavailable, "\(error)", "Make room on the disk of the state directory, and repeat it")
        }
    }
}
