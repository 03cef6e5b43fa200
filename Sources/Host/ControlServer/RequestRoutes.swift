import ControlWire
import Hummingbird
import TaskModel

/// The routes of requests: submit one, list the pending ones, and cancel.
struct RequestRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.post("requests", .submitting) { request, context in
            let message = try await request.message(SubmissionMessage.self, context: context, limits: limits)
            if context.power != .all {
                try await context.power.check(bundle(of: message.identifier), of: message.identifier)
            }
            if message.atDeadline != nil, message.deadline == nil {
                throw ClientText.invalid(
                    "\(message.identifier)", "'atDeadline' has no effect without 'deadline'",
                    remedy: "Add 'deadline', or leave 'atDeadline' out")
            }
            let accepted = try await host.submit(message.submission, from: context.peer)
            return try Response.json(AcceptanceMessage(accepted), status: .created)
        }
        routes.get("requests", query: [.after, .form, .limit, .summary, .identifier, .tag, .queues]) {
            request, _ in
            try await pending(request)
        }
        routes.get("queues") { _, _ in try await Response.json(host.queues().map(QueueMessage.init)) }
        routes.get("requests/:request/explanation") { _, context in
            let id = try ClientText.request(context.parameters.require("request"))
            return try await Response.json(TaskExplanationMessage(host.explain(id)))
        }
        routes.get("requests/:request") { _, context in
            let id = try ClientText.request(context.parameters.require("request"))
            let (record, launches) = try await host.request(id)
            return try Response.json(RequestDetailMessage(record, launches))
        }
        routes.post("requests/:request/retry") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            let id = try ClientText.request(context.parameters.require("request"))
            let record = try await host.request(id).record
            let accepted = try await host.submit(record.retried(), from: context.peer)
            return try Response.json(AcceptanceMessage(accepted), status: .created)
        }
        routes.post("cancel") { request, context in
            let message = try await request.message(CancelMessage.self, context: context, limits: limits)
            let target = try target(of: message)
            let cancellation = try await host.naming(theEndOf: target) { host in
                try await host.cancel(target)
            }
            return try Response.json(CancellationMessage(cancellation))
        }
    }

    /// The bundle whose manifest has a task; `nil` if there is none.
    private func bundle(of identifier: TaskIdentifier) async throws -> BundleIdentifier? {
        try await host.plugins().handlers.first { $0.manifest.declaration(for: identifier) != nil }?
            .manifest.bundle
    }

    private func target(of message: CancelMessage) throws -> ControlTarget {
        switch (message.target, message.tag) {
        case (let text?, nil): try ClientText.target(text)
        case (nil, let tag?): .tag(tag)
        case (nil, nil), (.some, .some):
            throw ClientText.invalid(
                "POST /v1/cancel", "the body must have one of the keys 'target' and 'tag'",
                remedy: "Send one of them")
        }
    }

    /// The pending requests: rows with `form=rows`, a page with `after`, else an array.
    private func pending(_ request: Request) async throws -> Response {
        let isShort = try ClientText.flag(.summary, request.query(.summary))
        if let name = request.query(.identifier) {
            try request.refuse([.after, .form, .limit, .summary, .tag, .queues], beside: .identifier)
            let found = try await host.pending(ClientText.identifier(name))
            return try Response.json([found].compactMap(\.self).map(PendingRequestMessage.init))
        }
        let tag = try request.query(.tag).map(ClientText.tag)
        if try ClientText.asksForRows(request.query(.form)) {
            try request.refuse([.after, .limit, .summary], beside: .form)
            let folds = try ClientText.folds(request.query(.queues))
            return try await PagedListing(limit: nil, pageLength: ControlProtocol.maximumPageLength) {
                [host] after, count in
                var page = try await host.pendingSummaries(after: after, limit: count, tag: tag)
                if folds { page.rows.removeAll { $0.reason?.policy == QueueState.policy } }
                return page
            }.response(MediaType.rows) { rows, _ in
                PendingListingRow.lines(of: rows)
            }
        }
        if request.query(.queues) != nil {
            throw ClientText.invalid(
                request.subject, "'queues' has no effect without 'form'", remedy: "Add 'form=rows'")
        }
        guard let start = try ClientText.pageStart(request.query(.after), RequestID.init) else {
            guard !isShort else {
                throw ClientText.invalid(
                    request.subject, "'summary' is only for pages",
                    remedy: "Add 'after=' to get the first page")
            }
            return try await array(limit: request.query(.limit).map { try ClientText.limit($0) }, tag: tag)
        }
        let limit = try ClientText.limit(request.query(.limit), standard: ControlProtocol.standardPageLength)
        if isShort {
            let page = PendingSummaryPageMessage(
                try await host.pendingSummaries(after: start.after, limit: limit, tag: tag))
            return Response.json(bytes: page.json)
        }
        return try Response.json(
            PendingPageMessage(
                await host.pending(after: start.after, limit: limit, tag: tag)))
    }

    /// An array of the oldest requests or, without a limit, of all.
    private func array(limit: Int?, tag: Tag?) async throws -> Response {
        try await PagedListing(limit: limit, pageLength: limit ?? ControlProtocol.standardPageLength) {
            [host] after, count in try await host.pending(after: after, limit: count, tag: tag)
        }.response(MediaType.json, end: "\n]\n", Self.lines)
    }

    /// Rows of an array, each on its own line; the first rows come after the opening bracket.
    private static func lines(of rows: [PendingRequest], isFirst: Bool) throws -> [UInt8] {
        var writer = PendingRequestWriter()
        var text = Array((isFirst ? "[" : "").utf8)
        for (index, row) in rows.enumerated() {
            text.append(contentsOf: (isFirst && index == 0 ? "\n" : ",\n").utf8)
            try writer.write(row, to: &text)
        }
        return text
    }
}
