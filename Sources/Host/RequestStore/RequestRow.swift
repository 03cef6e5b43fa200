import GRDB
import TaskModel

/// Converts requests to and from rows of the table `requests`.
enum RequestRow {
    /// Inserts a pending request; returns it with its number and with times rounded to milliseconds.
    ///
    /// It waits for the end of the request `after`, if that is not `nil`, and for the success of all
    /// `predecessors`.
    static func insert(
        _ submission: TaskSubmission, _ terms: RequestTerms, after: RequestID?,
        open predecessors: [RequestID] = [], into db: Database
    ) throws -> TaskRequest {
        try db.cachedStatement(
            sql: """
                INSERT INTO requests (id, identifier, bundle, kind, state, origin, earliest_ms,
                    requires_external_power, requires_network, requires_gpu, strategy, payload, title, subtitle,
                    idempotency_key, submitted_ms, deadline_ms, push_priority, network,
                    start_deadline_ms, at_deadline, tags, after_request, queued, priority,
                    predecessors, open_predecessors, attempt)
                VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
                """
        ).execute(arguments: [
            terms.id?.rawValue, submission.identifier.rawValue, terms.bundle.rawValue, terms.kind.rawValue,
            submission.origin.rawValue,
            submission.earliestBeginDate?.milliseconds, submission.requiresExternalPower,
            submission.requiresNetworkConnectivity, submission.requiresGPU, submission.strategy.rawValue,
            StoredText.encode(submission.payload), StoredText.encode(submission.title),
            StoredText.encode(submission.subtitle), StoredText.encode(submission.idempotencyKey),
            terms.acceptedAt.milliseconds, terms.deadline.milliseconds, submission.pushPriority.rawValue,
            submission.network?.rawValue, submission.startDeadline?.date.milliseconds,
            submission.startDeadline?.action.rawValue, StoredTags.encode(submission.tags), after?.rawValue,
            terms.queue != nil, submission.priority,
            StoredRequests.encode(Set(submission.predecessors).sorted()), StoredRequests.encode(predecessors),
        ])
        // This is the same request as reading the row would return.
        var request = terms.request(RequestID(rawValue: db.lastInsertedRowID), of: submission)
        request.after = after
        request.openPredecessors = predecessors
        for predecessor in predecessors {
            try db.cachedStatement(sql: "INSERT INTO predecessors (predecessor, request) VALUES (?, ?)")
                .execute(arguments: [predecessor.rawValue, request.id.rawValue])
        }
        return request
    }

    /// Reads the request with this number; throws ``StoreError`` if it does not exist.
    static func one(id: RequestID, in db: Database) throws -> RequestRecord {
        guard let record = try find(id: id, in: db) else { throw missing(id) }
        return record
    }

    static func missing(_ id: RequestID) -> StoreError {
        StoreError(
            code: .notPending, subject: "\(id)", finding: "the store has no such request",
            remedy: "To list the pending requests: bgtask pending")
    }

    static func find(id: RequestID, in db: Database) throws -> RequestRecord? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM requests WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.rawValue]).map(decode)
    }

    static func decode(_ row: Row) throws -> RequestRecord {
        var submission = TaskSubmission(
            identifier: try TaskIdentifier(row.decode(forColumn: "identifier")),
            origin: try StoredWord.decode(row, "origin"))
        submission.earliestBeginDate = try StoredTime.decodeOptional(row, "earliest_ms")
        submission.requiresExternalPower = try row.decode(forColumn: "requires_external_power")
        submission.requiresNetworkConnectivity = try row.decode(forColumn: "requires_network")
        submission.network = try StoredWord.decodeOptional(row, "network")
        submission.requiresGPU = try row.decode(forColumn: "requires_gpu")
        submission.strategy = try StoredWord.decode(row, "strategy")
        submission.payload = try StoredText.decodeOptional(row, "payload")
        submission.title = try StoredText.decode(row, "title")
        submission.subtitle = try StoredText.decode(row, "subtitle")
        submission.idempotencyKey = try StoredText.decodeOptional(row, "idempotency_key")
        submission.tags = try StoredTags.decode(row)
        submission.priority = try row.decode(forColumn: "priority")
        submission.predecessors = StoredRequests.decode(try row.decode(forColumn: "predecessors"))
        if let date = try StoredTime.decodeOptional(row, "start_deadline_ms") {
            submission.startDeadline = StartDeadline(
                date: date, action: try StoredWord.decode(row, "at_deadline"))
        }
        let priority: Int = try row.decode(forColumn: "push_priority")
        submission.pushPriority = PushPriority(rawValue: priority) ?? .considerate
        var request = TaskRequest(
            id: RequestID(rawValue: try row.decode(forColumn: "id")), submission: submission,
            bundle: try BundleIdentifier(row.decode(forColumn: "bundle")),
            kind: try StoredWord.decode(row, "kind"),
            submittedAt: try StoredTime.decode(row, "submitted_ms"),
            attempt: try row.decode(forColumn: "attempt"),
            notBefore: try StoredTime.decodeOptional(row, "not_before_ms"),
            deadline: try StoredTime.decode(row, "deadline_ms"))
        request.failures = try row.decode(forColumn: "failures")
        request.waitingSince =
            try StoredTime.decodeOptional(row, "waiting_since_ms") ?? request.submittedAt
        request.attempts.withoutProgress = try row.decode(forColumn: "attempts_without_progress")
        if let completed: Int64 = try row.decode(forColumn: "furthest_completed"),
            let total: Int64 = try row.decode(forColumn: "furthest_total")
        {
            request.attempts.furthest = TaskProgress(completed: completed, total: total)
        }
        request.isQueued = try row.decode(forColumn: "queued")
        let after: Int64? = try row.decode(forColumn: "after_request")
        request.after = after.map(RequestID.init(rawValue:))
        request.openPredecessors = StoredRequests.decode(try row.decode(forColumn: "open_predecessors"))
        let replacedBy: Int64? = try row.decode(forColumn: "replaced_by")
        return RequestRecord(
            request: request, state: try StoredWord.decode(row, "state"),
            outcome: try StoredWord.decodeOptional(row, "outcome"),
            reason: try StoredWord.decodeOptional(row, "reason"),
            endedAt: try StoredTime.decodeOptional(row, "ended_ms"),
            replacedBy: replacedBy.map(RequestID.init(rawValue:)))
    }
}
