import GRDB
import TaskModel

/// Requests that wait for the success of others.
extension SQLiteRequestStore {
    /// The predecessors of a submission that have not succeeded; throws if one can't come first.
    static func openPredecessors(
        of submission: TaskSubmission, _ terms: RequestTerms, in db: Database
    ) throws -> [RequestID] {
        if submission.predecessors.isEmpty { return [] }
        return try terms.request(RequestID(rawValue: 0), of: submission).submission
            .findOpenPredecessors(isQueued: terms.queue != nil) { try RequestRow.find(id: $0, in: db) }
    }

    /// Handles the end of a request for those that wait for its success: it fulfils their wait, or ends
    /// them, too.
    static func settleFollowers(
        of id: RequestID, _ outcome: Outcome, at time: WallTime, in db: Database
    ) throws {
        if outcome == .succeeded {
            for follower in try takeFollowers(of: id, in: db) {
                let open = follower.openPredecessors.filter { $0 != id }
                try db.cachedStatement(sql: "UPDATE requests SET open_predecessors = ? WHERE id = ?")
                    .execute(arguments: [StoredRequests.encode(open), follower.id.rawValue])
            }
            return
        }
        var failed = [id]
        while let next = failed.popLast() {
            for follower in try takeFollowers(of: next, in: db) {
                try keepBehindLaunch(follower, in: db)
                try endAlone(follower.id, .failed, .predecessorFailed, at: time, in: db)
                failed.append(follower.id)
            }
        }
    }

    /// Removes and returns the pending requests that wait for a request.
    private static func takeFollowers(of id: RequestID, in db: Database) throws -> [TaskRequest] {
        let statement = try db.cachedStatement(
            sql: "SELECT request FROM predecessors WHERE predecessor = ? ORDER BY request")
        let followers = try Int64.fetchAll(statement, arguments: [id.rawValue])
        if followers.isEmpty { return [] }
        try db.cachedStatement(sql: "DELETE FROM predecessors WHERE predecessor = ?")
            .execute(arguments: [id.rawValue])
        return try followers.compactMap { number in
            let record = try RequestRow.find(id: RequestID(rawValue: number), in: db)
            return record?.state == .pending ? record?.request : nil
        }
    }
}
