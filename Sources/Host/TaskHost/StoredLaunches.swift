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

    /// The request of a task that was accepted with an idempotency key; `nil` if there is none.
    func request(_ identifier: TaskIdentifier, key: String) async throws(SubmissionError) -> TaskRequest? {
        do {
            return try await store.request(identifier, key: key)?.request
        } catch {
            throw error.asSubmissionError
        }
    }

    /// A part of the launches, newest first.
    func page(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchRecord, LaunchID> {
        try await Self.page(limit, \.id) { count throws(StoreError) in
            try await store.launches(filter, limit: count, before: after)
        }
    }

    /// A part of the launches, newest first, with only what a table shows.
    func summaries(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchSummary, LaunchID> {
        try await Self.page(limit, \.id) { count throws(StoreError) in
            try await store.launchSummaries(filter, limit: count, before: after)
        }
    }

    /// A page of rows; one more than the limit is read, which shows whether there is a next page.
    private static func page<Row>(
        _ limit: Int, _ id: KeyPath<Row, LaunchID>, _ read: (Int) async throws(StoreError) -> [Row]
    ) async throws(SubmissionError) -> ListingPage<Row, LaunchID> {
        let found: [Row]
        do {
            found = try await read(limit + 1)
        } catch {
            throw error.asSubmissionError
        }
        let rows = Array(found.prefix(limit))
        return ListingPage(rows: rows, next: found.count > limit ? rows.last?[keyPath: id] : nil)
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
