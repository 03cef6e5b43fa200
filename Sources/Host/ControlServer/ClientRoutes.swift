import ControlWire
import FoundationEssentials
import Hummingbird
import TaskModel

/// The routes of clients: processes that run their own handlers and report about those launches.
struct ClientRoutes {
    let host: any HostControl
    let connections: Connections
    private var limits: ControlServer.Limits { connections.limits }

    func add(to routes: RouteTable) {
        // The identifiers are in the query and not in a body, because this route treats the end of the body
        // as the end of the client.
        routes.post("clients", query: [.identifiers]) { request, context in
            if let length = request.headers[.contentLength], length != "0" {
                throw ClientText.invalid(
                    request.subject, "this route takes no body",
                    remedy: "Give the identifiers in the query: POST /v1/clients?identifiers=com.example.a")
            }
            let identifiers = try Self.identifiers(request.query(.identifiers))
            try connections.follow(context, subject: request.subject)
            let calls = try await host.connect(identifiers, from: context.peer)
            let (queue, frames) = connections.queue(for: context)
            let forwarding = Task {
                for await call in calls {
                    let message = ClientCallMessage(call)
                    queue.put(
                        StreamFrame { try StreamFrame.text(message.name, message) }, isDispensable: false)
                }
                queue.finish()
            }
            queue.onEnd { forwarding.cancel() }
            return .stream(frames, of: queue, to: request, context)
        }
        routes.post("launches/:launch/progress") { request, context in
            let message = try await request.message(
                ClientProgressMessage.self, context: context, limits: limits)
            return try await report(.progress(message.progress), message, context)
        }
        routes.post("launches/:launch/complete") { request, context in
            let message = try await request.message(
                ClientCompletionMessage.self, context: context, limits: limits)
            return try await report(
                .complete(success: message.success, message: message.message), message, context)
        }
        routes.post("launches/:launch/checkpoint") { request, context in
            let message = try await request.message(
                ClientCheckpointMessage.self, context: context, limits: limits)
            guard let bytes = message.bytes, bytes.count <= 48 << 10 else {
                throw ClientText.invalid(
                    "checkpoint", "it is not base64 text, or has more than 48 KiB",
                    remedy: "Send at most 48 KiB, as base64 text")
            }
            return try await report(.checkpoint(bytes), message, context)
        }
        routes.post("launches/:launch/title") { request, context in
            let message = try await request.message(ClientTitleMessage.self, context: context, limits: limits)
            return try await report(
                .title(message.title, subtitle: message.subtitle ?? ""), message, context)
        }
    }

    private func report(
        _ report: ClientReport, _ message: some Encodable, _ context: ControlContext
    ) async throws -> Response {
        let id = try ClientText.launch(context.parameters.require("launch"))
        try await host.report(id, report, from: context.peer)
        return try Response.json(message)
    }

    private static func identifiers(_ text: String?) throws -> [IdentifierPattern] {
        let names = (text ?? "").split(separator: ",").map(String.init)
        guard !names.isEmpty, names.count <= 100 else {
            throw ClientText.invalid(
                "identifiers", "the query names \(names.count) identifiers",
                remedy:
                    "Give 1 to 100 identifiers: POST /v1/clients?identifiers=com.example.a,com.example.b.*")
        }
        return try names.map { name in
            do {
                return try IdentifierPattern(name)
            } catch {
                throw ClientText.invalid(
                    name, "\(error)", remedy: "Give the identifiers of tasks; each may end in '.*'")
            }
        }
    }
}
