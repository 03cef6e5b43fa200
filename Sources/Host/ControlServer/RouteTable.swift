import Hummingbird
import TaskModel

/// The name of a query parameter that at least one route reads.
enum QueryKey: String {
    case after, bundle, follow, form, identifier, identifiers, launch, limit, only, outcome, output, prefix
    case queues, since, summary, tag, until, word
}

/// Registers the routes of the control API.
///
/// Each route names the query parameters that it reads; a request with another parameter is refused.
struct RouteTable {
    typealias Handler = @Sendable (Request, ControlContext) async throws -> Response

    let group: RouterGroup<ControlContext>

    /// Adds a route that only reads.
    ///
    /// It runs on Swift's common threads, because a long listing must not delay other connections.
    func get(_ path: RouterPath, query: [QueryKey] = [], _ handler: @escaping Handler) {
        add(.get, path, query, .reading) { request, context in
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await handler(request, context)
            }
        }
    }

    func post(
        _ path: RouterPath, query: [QueryKey] = [], _ need: ControlPower.Need = .everything,
        _ handler: @escaping Handler
    ) {
        add(.post, path, query, need, handler)
    }

    func patch(_ path: RouterPath, _ handler: @escaping Handler) {
        add(.patch, path, [], .everything, handler)
    }
    func delete(_ path: RouterPath, _ handler: @escaping Handler) {
        add(.delete, path, [], .everything, handler)
    }

    private func add(
        _ method: HTTPRequest.Method, _ path: RouterPath, _ query: [QueryKey], _ need: ControlPower.Need,
        _ handler: @escaping Handler
    ) {
        let valid = query.map(\.rawValue)
        group.on(path, method: method) { request, context in
            try context.power.check(need, subject: request.subject)
            let names = request.uri.queryParameters.map { String($0.key) }
            if let unknown = names.filter({ !valid.contains($0) }).min() {
                throw UnknownName.refusal(
                    unknown, of: .queryParameter, valid: valid, subject: request.subject)
            }
            if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
                throw ClientText.invalid(
                    request.subject, "the query parameter '\(twice)' is given more than once",
                    remedy: "Give it once")
            }
            return try await handler(request, context)
        }
    }
}
