import ControlWire
import Hummingbird
import TaskModel

/// The routes of launches: list and show them, start one now, and stop one.
struct LaunchRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    /// The parameters that select launches.
    private static let filters: [QueryKey] = [.identifier, .bundle, .tag, .outcome, .since]

    func add(to routes: RouteTable) {
        routes.get("launches", query: Self.filters + [.limit, .form, .after]) { request, _ in
            if try ClientText.asksForRows(request.query(.form)) { return try await rows(request) }
            let start = try ClientText.pageStart(request.query(.after), LaunchID.init)
            let page = try await host.launches(
                request.launchFilter(), after: start?.after, limit: ClientText.limit(request.query(.limit)))
            return start == nil
                ? try Response.json(page.rows.map(LaunchMessage.init))
                : try Response.json(LaunchPageMessage(page))
        }
        routes.get("launches/:launch") { _, context in
            let id = try ClientText.launch(context.parameters.require("launch"))
            return try await Response.json(LaunchDetailMessage(host.launch(id)))
        }
        routes.post("launches") { request, context in
            let message = try await request.message(SimulationMessage.self, context: context, limits: limits)
            let launch = try await host.simulateLaunch(
                message.identifier, debug: message.debug ?? false, learn: message.learn ?? false,
                payload: message.payload)
            return try Response.json(SimulatedLaunchMessage(launch), status: .created)
        }
        routes.post("expire") { request, context in
            let message = try await request.message(ExpireMessage.self, context: context, limits: limits)
            let reason = message.reason ?? .simulated
            guard reason.isExpiration else {
                throw ClientText.invalid(
                    reason.rawValue, "a launch can end for this reason, but can't be stopped for it",
                    remedy: "Give one of "
                        + Reason.allCases.filter(\.isExpiration).map(\.rawValue).joined(separator: ", "))
            }
            let target = try ClientText.target(message.target)
            let launches = try await host.naming(theEndOf: target) { host in
                try await host.expire(target, reason: reason)
            }
            return try Response.json(ExpirationMessage(launches: launches, reason: reason))
        }
    }
    /// All launches or, with a limit, the newest, as rows.
    private func rows(_ request: Request) async throws -> Response {
        try request.refuse([.after], beside: .form)
        let filter = try request.launchFilter()
        let limit = try request.query(.limit).map { try ClientText.limit($0, most: .max) }
        return try await PagedListing(limit: limit, pageLength: ControlProtocol.maximumPageLength) {
            [host] after, count in
            try await host.launchSummaries(filter, after: after, limit: count)
        }.response(MediaType.rows) { rows, _ in LaunchListingRow.lines(of: rows) }
    }
}

extension Request {
    /// Which launches a listing contains, from the query.
    fileprivate func launchFilter() throws -> LaunchFilter {
        try LaunchFilter(
            identifier: query(.identifier).map(ClientText.identifier),
            bundle: query(.bundle).map(ClientText.bundle), tag: query(.tag).map(ClientText.tag),
            outcome: query(.outcome).map(ClientText.outcome), since: query(.since).map(ClientText.date))
    }
}
