import HostCore
import RequestStore
import TaskModel

/// Answers questions about requests and launches from the store.
///
/// The records of launches under way are as old as their last commit.
struct StoredLaunches: Sendable {
    let store: any RequestStore

    /// A request in any state, with its launches in the order of its attempts.
    func request(_ id: RequestID) async throws(SubmissionError) -> (
        record: RequestRecord, launches: [LaunchRecord]
    ) {
        do {
            if let found = try await store.request(id) { return (found, try await store.launches(of: id)) }
        } catch {
            throw error.asSubmissionError
        }
        throw SubmissionError(
            code: .notFound, subject: "\(id)", finding: "the host knows no request with this number",
            remedy: "Its record may have been removed after its end. To list the launches: bgtask launches")
    }

    /// A part of the launches, newest first.
    func page(
        identifier: TaskIdentifier?, tag: Tag?, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchRecord, LaunchID> {
        do {
            // One launch more than the limit is read, which shows whether there is a next page.
            let found = try await store.launches(
                identifier: identifier, tag: tag, limit: limit + 1, before: after)
            let rows = Array(found.prefix(limit))
            return ListingPage(rows: rows, next: found.count > limit ? rows.last?.id : nil)
        } catch {
            throw error.asSubmissionError
        }
    }

    /// A part of the launches, newest first, with only what a table shows.
    func summaries(
        identifier: TaskIdentifier?, tag: Tag?, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchSummary, LaunchID> {
        do {
            let found = try await store.launchSummaries(
                identifier: identifier, tag: tag, limit: limit + 1, before: after)
            let rows = Array(found.prefix(limit))
            return ListingPage(rows: rows, next: found.count > limit ? rows.last?.id : nil)
        } catch {
            throw error.asSubmissionError
        }
    }

    /// A launch.
    func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchRecord {
        do {
            if let found = try await store.launch(id) { return found }
        } catch {
            throw error.asSubmissionError
        }
        throw SubmissionError(
            code: .notFound, subject: "\(id)", finding: "no launch has this number",
            remedy: "To list the launches: bgtask launches")
    }
}
